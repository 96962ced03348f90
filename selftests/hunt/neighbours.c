// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - resources held by an unprivileged process, and their effect
 * on others
 *
 * usage: neighbours DEV qps N		creates N queue pairs
 *	  neighbours DEV faults N	causes N page faults that are never resolved
 *	  neighbours DEV spin N		computes in N processes, and opens nothing
 *	  neighbours ADDRESS ping N	N echo requests: percentiles of their time
 *
 * All but ping print "ready" when they have N objects, or "refused N" when they
 * were refused more than N, and wait to be killed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <linux/userfaultfd.h>

#include "../lib/tap.h"

#define PAGE 4096UL

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static int gid_index = -1;
static union ibv_gid gid;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "neighbours: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void device_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		die("open");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 100, NULL, NULL, 0);
	if (!pd || !cq)
		die("PD, CQ");
	for (i = 0; i < 16 && gid_index < 0; i++)
		if (!ibv_query_gid(ctx, 1, i, &gid) && gid.raw[10] == 0xff)
			gid_index = i;
}

static struct ibv_qp *qp_make(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};

	return ibv_create_qp(pd, &init);
}

/* Connects a queue pair to itself. */
static void qp_connect(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = gid,
				.sgid_index = gid_index,
				.hop_limit = 64,
			},
		},
		.timeout = 14,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
}

static void say_and_wait(int got, int wanted)
{
	if (got == wanted)
		puts("ready");
	else
		printf("refused %d %s\n", got, strerror(errno));
	fflush(stdout);
	pause();
}

static void qps(int num)
{
	int i;

	for (i = 0; i < num && qp_make(); i++)
		;
	say_and_wait(i, num);
}

/* Memory whose page faults are never resolved */
static void *void_make(size_t len)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .len = len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	reg.range.start = (uintptr_t)p;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	return p;
}

static void faults(int num)
{
	static char source[64];
	__u8 *hole = void_make(num * PAGE);
	struct ibv_mr *from = ibv_reg_mr(pd, source, sizeof(source), 0);
	struct ibv_mr *to = ibv_reg_mr(pd, hole, num * PAGE,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_ON_DEMAND);
	int i;

	if (!from || !to)
		die("reg_mr");
	for (i = 0; i < num; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)source, .length = 8, .lkey = from->lkey,
		};
		struct ibv_send_wr wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = {
				.remote_addr = (uintptr_t)hole + i * PAGE,
				.rkey = to->rkey,
			},
		};
		struct ibv_send_wr *bad;
		struct ibv_qp *qp = qp_make();

		if (!qp)
			break;
		qp_connect(qp);
		if (ibv_post_send(qp, &wr, &bad))
			die("post");
	}
	say_and_wait(i, num);
}

/* A control, to tell effects of the device from those of a busy processor */
static void spin(int num)
{
	int i;

	for (i = 0; i < num; i++)
		if (!fork())
			for (;;)
				__asm__ volatile("");
	say_and_wait(num, num);
}

/* ---- ping ---- */

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the round trip time of echo request @seq, -1 if it was lost. */
static double echo(int fd, __u16 seq)
{
	struct icmphdr request = {
		.type = ICMP_ECHO,
		.un.echo = { .id = 0x7e57, .sequence = seq },
	};
	struct pollfd in = { .fd = fd, .events = POLLIN };
	__u32 sum = 0, i;
	double begin;
	__u8 answer[256];

	for (i = 0; i < sizeof(request) / 2; i++)
		sum += ((__u16 *)&request)[i];
	sum = (sum & 0xffff) + (sum >> 16);
	request.checksum = ~(sum + (sum >> 16));
	begin = now_us();
	if (send(fd, &request, sizeof(request), 0) < 0)
		return -1;
	while (poll(&in, 1, tap_bound() * 1000) == 1) {
		const struct iphdr *ip = (void *)answer;
		const struct icmphdr *icmp = (void *)answer + sizeof(*ip);

		if (recv(fd, answer, sizeof(answer), 0) < 28)
			continue;
		if (icmp->type == ICMP_ECHOREPLY && icmp->un.echo.sequence == seq)
			return now_us() - begin;
	}
	fprintf(stderr, "# late: the answer to a ping\n");
	return -1;
}

static void ping(const char *address, int num)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	double *took = calloc(num, sizeof(*took));
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	int i;

	inet_pton(AF_INET, address, &to.sin_addr);
	if (fd < 0 || !took || connect(fd, (void *)&to, sizeof(to)))
		die("ping");
	for (i = 0; i < num; i++) {
		took[i] = echo(fd, i);
		if (took[i] < 0)
			die("no answer");
		usleep(500);
	}
	qsort(took, num, sizeof(*took), by_size);
	printf("%.0f %.0f\n", took[num / 2], took[num * 999 / 1000]);
}

int main(int argc, char **argv)
{
	int num = argc == 4 ? atoi(argv[3]) : 0;

	if (num <= 0)
		return 2;
	if (!strcmp(argv[2], "ping")) {
		ping(argv[1], num);
		return 0;
	}
	if (!strcmp(argv[2], "spin"))
		spin(num);
	device_open(argv[1]);
	if (!strcmp(argv[2], "qps"))
		qps(num);
	else if (!strcmp(argv[2], "faults"))
		faults(num);
	return 2;
}
