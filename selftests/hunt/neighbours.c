// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - an unprivileged process that uses as much of a device as it can
 *
 * usage: neighbours DEV qps N		creates N queue pairs
 *	  neighbours DEV faults N	causes N page faults that are never resolved
 *	  neighbours DEV hog N		posts long WRITEs to N queue pairs with peers on the
 *					same device, then sleeps
 *	  neighbours DEV stuck N	registers N pages that are never provided, after
 *					leaving the network namespace of its device
 *	  neighbours DEV dumps N	lists all queue pairs, in N processes at a time
 *	  neighbours DEV gets N		queries the counters of the other host's port, N
 *					queries at a time
 *	  neighbours DEV spin N		computes in N processes, without a device
 *	  neighbours ADDRESS ping N	prints percentiles of the times of N echo requests
 *
 * All but ping wait to be killed after printing "ready" when they have N objects, or
 * "refused N" if the device granted only N.  Commands that repeat an action print "ready"
 * after each N.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <linux/userfaultfd.h>

#include "../lib/tap.h"
#include "rc.h"

#define PAGE 4096UL
#define HOG_BYTES (32UL << 20)	/* length of a WRITE */
#define HOG_WRITES 32768	/* WRITEs per queue pair */
#define MAD_BYTES 256
#define GRH_BYTES 40
#define GSI_QKEY 0x80010000
#define GET_RESP 0x81

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static int gid_index;
static union ibv_gid gid;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "neighbours: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void device_open(const char *name)
{
	ctx = rc_open(name);
	if (!ctx)
		die("open");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 100, NULL, NULL, 0);
	if (!pd || !cq)
		die("PD, CQ");
	gid_index = rc_gid(ctx, &gid);
}

static struct ibv_qp *qp_make(enum ibv_qp_type type, int depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = depth, .max_recv_wr = depth,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};

	return ibv_create_qp(pd, &init);
}

/* The path to this host */
static struct ibv_ah_attr path_here(void)
{
	return rc_path(&gid, gid_index);
}

/* Connects a queue pair to @peer, which may be itself. */
static void qp_connect(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	const char *failed = rc_connect(qp, (struct ibv_qp_attr) {
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.ah_attr = path_here(),
		.max_rd_atomic = 1,
	});

	if (failed)
		die(failed);
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void say_and_wait(int got, int wanted)
{
	if (got == wanted)
		say_ready();
	else
		printf("refused %d %s\n", got, strerror(errno));
	fflush(stdout);
	pause();
}

static void qps(int num)
{
	int i;

	for (i = 0; i < num && qp_make(IBV_QPT_RC, 1); i++)
		;
	say_and_wait(i, num);
}

/* Memory whose page faults are never resolved; *@fault is readable once one occurs. */
static void *void_make(size_t len, int *fault)
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
	*fault = fd;
	return p;
}

/* Posts @num WRITEs from @sge by one call. */
static void writes_post(struct ibv_qp *qp, struct ibv_sge *sge, __u64 to, __u32 rkey,
			int num)
{
	struct ibv_send_wr *wrs = calloc(num, sizeof(*wrs));
	struct ibv_send_wr *bad;
	int i;

	if (!wrs)
		die("WRs");
	for (i = 0; i < num; i++) {
		wrs[i] = (struct ibv_send_wr) {
			.next = i + 1 < num ? &wrs[i + 1] : NULL,
			.sg_list = sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { .remote_addr = to, .rkey = rkey },
		};
	}
	if (ibv_post_send(qp, wrs, &bad))
		die("post");
	free(wrs);
}

static void faults(int num)
{
	static char source[64];
	int fault;
	__u8 *hole = void_make(num * PAGE, &fault);
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
		struct ibv_qp *qp = qp_make(IBV_QPT_RC, 1);

		if (!qp)
			break;
		qp_connect(qp, qp);
		writes_post(qp, &sge, (uintptr_t)hole + i * PAGE, to->rkey, 1);
	}
	say_and_wait(i, num);
}

/* Posts work to @num queue pairs that takes the kernel minutes and this process no time. */
static void hog(int num)
{
	__u8 *buf = mmap(NULL, 2 * HOG_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(pd, buf, 2 * HOG_BYTES,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE);
	int i;

	if (!mr)
		die("reg_mr");
	for (i = 0; i < num; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)buf, .length = HOG_BYTES, .lkey = mr->lkey,
		};
		struct ibv_qp *qp = qp_make(IBV_QPT_RC, HOG_WRITES);
		struct ibv_qp *peer = qp_make(IBV_QPT_RC, 1);

		if (!qp || !peer)
			die("QP");
		qp_connect(peer, qp);
		qp_connect(qp, peer);
		writes_post(qp, &sge, (uintptr_t)buf + HOG_BYTES, mr->rkey, HOG_WRITES);
	}
	say_ready();
	pause();
}

struct absent {
	__u8	*addr;
	size_t	len;
};

static void *absent_reg(void *arg)
{
	const struct absent *absent = arg;

	ibv_reg_mr(pd, absent->addr, absent->len, 0);
	die("a registration ended");
}

/* Makes the verb in progress the only user of the namespace. */
static void stuck(int num)
{
	struct absent absent = { .len = num * PAGE };
	struct pollfd in = { .events = POLLIN };
	pthread_t caller;

	absent.addr = void_make(absent.len, &in.fd);
	if (unshare(CLONE_NEWNET))
		die("unshare");
	if (pthread_create(&caller, NULL, absent_reg, &absent))
		die("thread");
	if (poll(&in, 1, -1) != 1)
		die("poll");
	say_and_wait(num, num);
}

static void dumps(int num)
{
	int i, status;

	for (;;) {
		for (i = 0; i < num; i++)
			if (!fork()) {
				execlp("sh", "sh", "-c",
				       "exec rdma -dd resource show qp >/dev/null",
				       NULL);
				_exit(127);
			}
		while (wait(&status) > 0)
			if (status)
				die("rdma");
		say_ready();
	}
}

/* ---- queries for the counters of a port ---- */

/* A MAD for PortCounters of port 1: IBTA volume 1, 13.4.3 and 16.1.3.5 */
static const __u8 get_counters[MAD_BYTES] = {
	[0] = 1,	/* base version */
	[1] = 0x04,	/* class: performance management */
	[2] = 1,	/* class version */
	[3] = 0x01,	/* Get */
	[17] = 0x12,	/* PortCounters */
	[65] = 1,	/* port */
};

static struct ibv_qp *gsi_client(int depth)
{
	struct ibv_qp *qp = qp_make(IBV_QPT_UD, depth);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = GSI_QKEY,
	};

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				 IBV_QP_PORT | IBV_QP_QKEY))
		die("INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		die("RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("RTS");

	return qp;
}

/* The address of the other host is the next one. */
static struct ibv_ah *other_host(void)
{
	struct ibv_ah_attr attr = path_here();
	struct ibv_ah *ah;

	attr.grh.dgid.raw[15]++;
	/* The kernel gives up after a second, in which this process may have no processor. */
	do
		ah = ibv_create_ah(pd, &attr);
	while (!ah && errno == ETIMEDOUT);
	if (!ah)
		die("AH");

	return ah;
}

static void query(struct ibv_qp *qp, struct ibv_ah *ah, const struct ibv_mr *mr)
{
	__u8 *buf = mr->addr;
	struct ibv_sge from = {
		.addr = (uintptr_t)buf, .length = MAD_BYTES, .lkey = mr->lkey,
	};
	struct ibv_sge to = {
		.addr = (uintptr_t)buf + MAD_BYTES,
		.length = GRH_BYTES + MAD_BYTES,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr send = {
		.sg_list = &from,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = 1, .remote_qkey = GSI_QKEY },
	};
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad;

	if (ibv_post_recv(qp, &recv, &bad_recv) || ibv_post_send(qp, &send, &bad))
		die("post");
}

/* Waits for the next answer. */
static void answer_get(const struct ibv_mr *mr)
{
	const __u8 *answer = (__u8 *)mr->addr + MAD_BYTES + GRH_BYTES;
	struct ibv_wc wc;
	int num;

	do {
		num = ibv_poll_cq(cq, 1, &wc);
		if (num < 0 || (num && wc.status))
			die("a query");
	} while (!num || wc.opcode != IBV_WC_RECV);
	if (wc.byte_len != GRH_BYTES + MAD_BYTES || answer[3] != GET_RESP || answer[5])
		die("an answer");
}

static void gets(int num)
{
	static __u8 buf[MAD_BYTES + GRH_BYTES + MAD_BYTES];
	struct ibv_mr *mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp *qp = gsi_client(num);
	struct ibv_ah *ah = other_host();
	int i;

	if (!mr)
		die("reg_mr");
	memcpy(buf, get_counters, MAD_BYTES);
	for (i = 0; i < num; i++)
		query(qp, ah, mr);
	for (;;) {
		for (i = 0; i < num; i++) {
			answer_get(mr);
			query(qp, ah, mr);
		}
		say_ready();
	}
}

/* For comparison: the effect of a busy processor without a device */
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

static const struct {
	const char	*name;
	void		(*run)(int num);
	bool		opens;
} acts[] = {
	{ "qps",	qps,	true },
	{ "faults",	faults,	true },
	{ "hog",	hog,	true },
	{ "stuck",	stuck,	true },
	{ "dumps",	dumps,	false },
	{ "gets",	gets,	true },
	{ "spin",	spin,	false },
};

int main(int argc, char **argv)
{
	int num = argc == 4 ? atoi(argv[3]) : 0;
	size_t i;

	if (num <= 0)
		return 2;
	if (!strcmp(argv[2], "ping")) {
		ping(argv[1], num);
		return 0;
	}
	for (i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		if (strcmp(argv[2], acts[i].name))
			continue;
		if (acts[i].opens)
			device_open(argv[1]);
		acts[i].run(num);
	}
	return 2;
}
