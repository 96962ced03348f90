// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: one queue pair, posted to from every CPU
 *
 * queues.sh checks which TX queues and routes the packets have used.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "vrb.h"

#define LEN	1024
#define WRITES	400

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must_be(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Each WRITE completes before the next is posted, so each is sent by the caller's CPU. */
static void from_all(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	struct mem ma, mb;
	cpu_set_t all;
	struct pair p;

	if (cpus < 2)
		case_skip("only one processor");
	must_be(sched_getaffinity(0, sizeof(all), &all), 0);
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	for (i = 0; i < WRITES; i++) {
		struct ibv_sge sge = sge_of(&ma, 0, LEN);
		struct ibv_send_wr wr = wr_of(i, IBV_WR_RDMA_WRITE, &sge, 1);

		run_on(i % cpus);
		wr_target(&wr, &mb, 0);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
	}
	must_be(sched_setaffinity(0, sizeof(all), &all), 0);
}

static const struct vrb_case queues_cases[] = {
	{ "queues", "400 WRITEs of one queue pair, from every CPU", from_all },
};

VRB_CASES(queues_cases);
