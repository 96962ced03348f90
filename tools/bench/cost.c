// SPDX-License-Identifier: GPL-2.0
/*
 * srnic bench - costs that perftest does not measure
 *
 * usage: cost reg BYTES TIMES DEVICE	median of the microseconds to register
 *					BYTES, and the memory used in bytes
 *	  cost qp COUNT DEVICE		memory in bytes used by an idle RC queue pair
 *					with queues of 128
 *	  cost list COUNT TIMES DEVICE	median of the microseconds of processor time
 *					that rdma takes to list COUNT RC queue pairs
 *					with all attributes
 *	  cost copy BYTES TIMES		MiB/s of memcpy() from buffer to buffer
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"

static struct ibv_pd *open_pd(const char *name)
{
	struct ibv_pd *pd = ibv_alloc_pd(open_device(name));

	if (!pd)
		die(name);

	return pd;
}

/* Free memory in bytes */
static double available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long kib = 0;
	char line[128];

	if (!f)
		die("/proc/meminfo");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %lu", &kib) == 1)
			break;
	fclose(f);

	return kib * 1024.0;
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *p, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, p, len, IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		die("ibv_reg_mr");

	return mr;
}

/* Number of regions: the memory of one is less than the noise of per-CPU page caches. */
static int reg_count(size_t len)
{
	size_t count = ((size_t)4 << 30) / len;

	return count > 4096 ? 4096 : count;
}

static double reg_memory(struct ibv_pd *pd, void *p, size_t len)
{
	int count = reg_count(len);
	struct ibv_mr *mr[count];
	double before = available();
	int i;

	for (i = 0; i < count; i++)
		mr[i] = reg(pd, p, len);
	before -= available();
	for (i = 0; i < count; i++)
		ibv_dereg_mr(mr[i]);

	return before / count;
}

static void cost_reg(size_t len, int times, const char *name)
{
	struct ibv_pd *pd = open_pd(name);
	double took[times], begin;
	void *p = buffer(len);
	struct ibv_mr *mr;
	int i;

	for (i = 0; i < times; i++) {
		begin = now();
		mr = reg(pd, p, len);
		took[i] = (now() - begin) * 1e6;
		ibv_dereg_mr(mr);
	}
	qsort(took, times, sizeof(took[0]), by_value);
	printf("%.1f %.0f\n", took[times / 2], reg_memory(pd, p, len));
}

/* Creates @count queue pairs with queues of 128, which share a CQ. */
static void make_qps(struct ibv_pd *pd, struct ibv_cq *cq, int count)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 128, .max_recv_wr = 128,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int i;

	for (i = 0; i < count; i++)
		if (!ibv_create_qp(pd, &init))
			die("ibv_create_qp");
}

static struct ibv_cq *make_cq(struct ibv_pd *pd)
{
	struct ibv_cq *cq = ibv_create_cq(pd->context, 1024, NULL, NULL, 0);

	if (!cq)
		die("ibv_create_cq");

	return cq;
}

static void cost_qp(int count, const char *name)
{
	struct ibv_pd *pd = open_pd(name);
	struct ibv_cq *cq = make_cq(pd);
	double before;

	make_qps(pd, cq, 1);
	before = available();
	make_qps(pd, cq, count);
	printf("%.0f\n", (before - available()) / count);
}

static double microseconds(const struct timeval *t)
{
	return t->tv_sec * 1e6 + t->tv_usec;
}

/* Processor time of "rdma resource" with the arguments of srnic-top, microseconds */
static double list_qps(const char *name)
{
	struct rusage used;
	pid_t pid = fork();
	char link[64];
	int status;

	if (!pid) {
		snprintf(link, sizeof(link), "%s/1", name);
		if (!freopen("/dev/null", "w", stdout))
			die("/dev/null");
		execlp("rdma", "rdma", "-j", "-dd", "resource", "show", "qp",
		       "link", link, NULL);
		die("rdma");
	}
	if (wait4(pid, &status, 0, &used) != pid || status)
		die("rdma");

	return microseconds(&used.ru_utime) + microseconds(&used.ru_stime);
}

static void cost_list(int count, int times, const char *name)
{
	struct ibv_pd *pd = open_pd(name);
	double took[times];
	int i;

	make_qps(pd, make_cq(pd), count);
	for (i = 0; i < times; i++)
		took[i] = list_qps(name);
	qsort(took, times, sizeof(took[0]), by_value);
	printf("%.0f\n", took[times / 2]);
}

/* Copies one buffer to another, as perftest transfers the same message repeatedly. */
static void cost_copy(size_t len, int times)
{
	char *from = buffer(len), *to = buffer(len);
	double begin = now();
	int i;

	for (i = 0; i < times; i++) {
		memcpy(to, from, len);
		/* prevents the compiler from copying only once */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	printf("%.1f\n", (double)len * times / (now() - begin) / (1 << 20));
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "reg"))
		cost_reg(strtoull(argv[2], NULL, 0), atoi(argv[3]), argv[4]);
	else if (argc == 4 && !strcmp(argv[1], "qp"))
		cost_qp(atoi(argv[2]), argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "list"))
		cost_list(atoi(argv[2]), atoi(argv[3]), argv[4]);
	else if (argc >= 4 && !strcmp(argv[1], "copy"))
		cost_copy(strtoull(argv[2], NULL, 0), atoi(argv[3]));
	else
		return 2;

	return 0;
}
