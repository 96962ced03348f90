// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: when a program may read received data
 *
 * IBTA volume 1, 9.5 (transaction ordering): the target of a WRITE holds its data once
 * the completion of its immediate, or of a later message, has been polled.  One thread
 * posts, and may execute what it posts; another one reads meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "vrb.h"

#define SLOTS	8
#define SLOT	(32UL << 10)
#define WRITES	4	/* per slot, before the message that completes a receive */
#define LEN	20000

static struct pair p;
static struct mem ma, mb;

static void setup(size_t len)
{
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], len, FULL_ACCESS);
	mem_make(&mb, &sides[1], len, FULL_ACCESS);
	fill(ma.p, len, 1);
	memset(mb.p, GUARD, len);
}

/**
 * struct poster - the thread that posts
 * @wr: requests of this turn
 * @sge: SGEs of @wr
 * @num: number of @wr
 * @go: posted when @wr is complete, or @end set
 * @posted: posted by the thread when it has posted all of @wr
 * @end: the thread is to end
 */
static struct poster {
	pthread_t		thread;
	struct ibv_send_wr	wr[SLOTS * (WRITES + 1)];
	struct ibv_sge		sge[SLOTS * (WRITES + 1)];
	int			num;
	sem_t			go;
	sem_t			posted;
	bool			end;
} poster;

static void *poster_main(void *unused)
{
	int i;

	(void)unused;
	for (;;) {
		sem_wait(&poster.go);
		if (poster.end)
			return NULL;
		for (i = 0; i < poster.num; i++)
			if (post_one(&p.a, &poster.wr[i]))
				perror("# ibv_post_send");
		sem_post(&poster.posted);
	}
}

static void poster_end(void)
{
	poster.end = true;
	sem_post(&poster.go);
	pthread_join(poster.thread, NULL);
}

static void poster_start(void)
{
	poster.num = 0;
	poster.end = false;
	must_be(sem_init(&poster.go, 0, 0), 0);
	must_be(sem_init(&poster.posted, 0, 0), 0);
	must_be(pthread_create(&poster.thread, NULL, poster_main, NULL), 0);
	case_end = poster_end;
}

/* Waits until all requests of the turn have been posted and have completed. */
static void poster_rest(void)
{
	int i;

	sem_wait(&poster.posted);
	for (i = 0; i < poster.num; i++)
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
	poster.num = 0;
}

static void add(enum ibv_wr_opcode op, size_t from, size_t to, size_t len)
{
	struct ibv_sge *sge = &poster.sge[poster.num];
	struct ibv_send_wr *wr = &poster.wr[poster.num];

	*sge = sge_of(&ma, from, len);
	*wr = wr_of(poster.num++, op, sge, !!len);
	if (op != IBV_WR_SEND)
		wr_target(wr, &mb, to);
}

/* Expected contents of the target */
static __u8 image[SLOTS * SLOT];

/* Overlapping WRITEs; the last one has an immediate, or a SEND follows */
static void add_slot(int slot)
{
	bool imm = slot % 2;
	size_t from, to, len;
	int i;

	must_be(post_recv(&p.b, slot, NULL, 0), 0);
	for (i = 0; i < WRITES + imm; i++) {
		len = 1 + random() % (random() % 2 ? SLOT / 2 : 300);
		from = random() % (ma.len - len);
		to = slot * SLOT + random() % (SLOT - len);
		add(i < WRITES ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM,
		    from, to, len);
		memcpy(image + to, ma.p + from, len);
	}
	if (!imm)
		add(IBV_WR_SEND, 0, 0, 0);
}

/* Later slots are still being written while an earlier one is read. */
static void data_before_completion(void)
{
	int round, slot;

	setup(SLOTS * SLOT);
	poster_start();
	memset(image, GUARD, sizeof(image));
	srandom(run_seed);
	for (round = 0; round < rounds; round++) {
		for (slot = 0; slot < SLOTS; slot++)
			add_slot(slot);
		sem_post(&poster.go);
		for (slot = 0; slot < SLOTS; slot++) {
			wc_want(p.b.rcq, slot, IBV_WC_SUCCESS);
			must(!memcmp(mb.p + slot * SLOT, image + slot * SLOT,
				     SLOT));
		}
		poster_rest();
	}
}

/* Waits for a WRITE by polling memory. */
static void last_word_becomes(const __u8 *last, __u64 want)
{
	__u64 end = 0;

	while (__atomic_load_n((__u64 *)last, __ATOMIC_ACQUIRE) != want) {
		must(in_bound(&end, "the last word of a WRITE"));
		sched_yield();
	}
}

/* The specification does not say so, but programs rely on NICs that write in order. */
static void last_word_last(void)
{
	size_t len;
	int i;

	setup(LEN);
	poster_start();
	srandom(run_seed);
	for (i = 1; i <= 2 * rounds; i++) {
		len = 8 * (1 + random() % (LEN / 8));
		fill(ma.p, len - 8, i);
		*(__u64 *)(ma.p + len - 8) = i;
		add(IBV_WR_RDMA_WRITE, 0, 0, len);
		sem_post(&poster.go);
		last_word_becomes(mb.p + len - 8, i);
		same(mb.p, len - 8, i, "all but the last word");
		poster_rest();
	}
}

/* A message that waits for a receive delays the WRITE after it. */
static void behind_rnr(void)
{
	const size_t half = LEN / 2;
	int i;

	setup(LEN);
	poster_start();
	for (i = 0; i < 5; i++) {
		memset(mb.p, GUARD, LEN);
		add(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, half);
		add(IBV_WR_RDMA_WRITE, half, half, half);
		sem_post(&poster.go);
		wc_none(p.a.scq, 15);
		untouched(mb.p + half, half, "the target of the second WRITE");
		must_be(post_recv(&p.b, 3, NULL, 0), 0);
		wc_want(p.b.rcq, 3, IBV_WC_SUCCESS);
		must(!memcmp(mb.p, ma.p, half));
		poster_rest();
		must(!memcmp(mb.p, ma.p, LEN));
	}
}

static const struct vrb_case order_cases[] = {
	{ "order", "a receive completion follows the data of earlier WRITEs",
	  data_before_completion },
	{ "order", "the last word of a WRITE follows its other bytes", last_word_last },
	{ "order", "a WRITE behind a message that waits for a receive", behind_rnr },
};

VRB_TOPIC("order", order_cases);
