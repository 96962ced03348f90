// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: completion queues: resize, moderation,
 * vectors, timestamps, overrun
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "vrb.h"

static struct pair p;

static void setup_cqe(int cqe)
{
	struct opt o = opt_default;

	o.cqe = cqe;
	pair_make(&p, &o, NULL);
}

static void setup(void)
{
	setup_cqe(opt_default.cqe);
}

/* Posts @n empty WRITEs with ids from @first on. */
static void post_from(int first, int n)
{
	struct ibv_send_wr wr;
	int i;

	for (i = first; i < first + n; i++) {
		wr = wr_of(i, IBV_WR_RDMA_WRITE, NULL, 0);
		must_be(post_one(&p.a, &wr), 0);
	}
}

/* Posts @n empty WRITEs and drains the send queue, so that all have completed. */
static void complete_from(int first, int n)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};

	post_from(first, n);
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event_want(&sides[0], IBV_EVENT_SQ_DRAINED, p.a.qp);
	must_be(to_state(&p.a, IBV_QPS_RTS), 0);
}

static void want_from(int first, int n)
{
	int i;

	for (i = first; i < first + n; i++)
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
}

static bool event_comes(int ms)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(p.a.channel->fd, ms))
		return false;
	must_be(ibv_get_cq_event(p.a.channel, &cq, &context), 0);
	must(cq == p.a.scq);
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void arm(void)
{
	must_be(ibv_req_notify_cq(p.a.scq, 0), 0);
}

/* ---- resizing ---- */

static void resize_keeps(void)
{
	static const int sizes[] = { 64, 5, 300, 8, 4096, 6 };
	int n;

	setup_cqe(8);
	complete_from(0, 5);
	for (n = 0; n < (int)ARRAY_SIZE(sizes); n++) {
		must_be(ibv_resize_cq(p.a.scq, sizes[n]), 0);
		must(p.a.scq->cqe >= sizes[n]);
		want_from(n, 1);
		complete_from(n + 5, 1);
	}
	want_from(n, 5);
	wc_none(p.a.scq, 1);
}

static void resize_too_small(void)
{
	int cqe;

	setup_cqe(32);
	cqe = p.a.scq->cqe;
	complete_from(0, 20);
	must_be(ibv_resize_cq(p.a.scq, 4), EINVAL);
	must_be(ibv_resize_cq(p.a.scq, 0), EINVAL);
	must_be(ibv_resize_cq(p.a.scq, sides[0].attr.max_cqe + 1), EINVAL);
	must_be(p.a.scq->cqe, cqe);
	want_from(0, 20);
	must_be(ibv_resize_cq(p.a.scq, 4), 0);
	complete_from(0, 4);
	want_from(0, 4);
}

/* A resize that cannot be mapped is refused before the kernel carries it out. */
static void resize_no_space(void)
{
	struct ibv_wc wc;
	int cqe, i;

	setup_cqe(32);
	cqe = p.a.scq->cqe;
	complete_from(0, 20);
	space_limit(1 << 20);
	must_be(ibv_resize_cq(p.a.scq, 1 << 16), ENOMEM);
	undo_now(NO_SPACE);
	must_be(p.a.scq->cqe, cqe);
	post_from(20, 4);
	for (i = 0; i < 24; i++) {
		must(wc_wait(p.a.scq, &wc, BOUND));
		must_be(wc.wr_id, i);
	}
	must_be(ibv_resize_cq(p.a.scq, 1 << 16), 0);
	complete_from(24, 4);
	want_from(24, 4);
}

/* Thread that resizes the queue during traffic */
static struct {
	struct ibv_cq *cq;
	int stop;
	int err;
	int count;
} resizer;

static void *resize_on(void *arg)
{
	static const int sizes[] = { 64, 1000, 65, 5000, 100, 33 };
	size_t i = 0;

	(void)arg;
	while (!__atomic_load_n(&resizer.stop, __ATOMIC_RELAXED) &&
	       !resizer.err) {
		resizer.err = ibv_resize_cq(resizer.cq,
					    sizes[i++ % ARRAY_SIZE(sizes)]);
		__atomic_fetch_add(&resizer.count, 1, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

/* Runs @traffic(round) until enough resizes have happened during it. */
static void resize_under(void (*traffic)(int round))
{
	pthread_t thread;
	int round;

	resizer.cq = p.a.scq;
	resizer.stop = 0;
	resizer.err = 0;
	resizer.count = 0;
	must_be(pthread_create(&thread, NULL, resize_on, NULL), 0);
	for (round = 0; round < 25 ||
	     (__atomic_load_n(&resizer.count, __ATOMIC_RELAXED) < 10 &&
	      round < 100000); round++)
		traffic(round);
	__atomic_store_n(&resizer.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	must_be(resizer.err, 0);
	must(resizer.count >= 10);
}

static void traffic_polled(int round)
{
	struct ibv_wc wc;
	int i;

	post_from(round * 32, 32);
	for (i = 0; i < 32; i++) {
		if (!wc_wait(p.a.scq, &wc, BOUND))
			break;
		if (wc.wr_id != (__u64)round * 32 + i || wc.status)
			break;
	}
	/* the thread must end before the case does */
	if (i < 32 && !resizer.err)
		resizer.err = -1;
}

static void traffic_events(int round)
{
	struct ibv_wc wc;

	arm();
	post_from(round, 1);
	if (readable(p.a.channel->fd, BOUND) && event_comes(0) &&
	    wc_wait(p.a.scq, &wc, BOUND) && wc.wr_id == (__u64)round)
		return;
	if (!resizer.err)
		resizer.err = -1;
}

static void resize_traffic(void)
{
	setup_cqe(64);
	resize_under(traffic_polled);
}

static void resize_events(void)
{
	setup_cqe(64);
	resize_under(traffic_events);
}

static void resize_armed(void)
{
	setup_cqe(8);
	arm();
	must_be(ibv_resize_cq(p.a.scq, 100), 0);
	post_from(0, 1);
	must(event_comes(BOUND));
	want_from(0, 1);
	must(!event_comes(0));
}

/* ---- moderation ---- */

static int moderate(int count, int period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period },
	};

	return ibv_modify_cq(p.a.scq, &attr);
}

static void moderation_caps(void)
{
	struct ibv_modify_cq_attr none = {}, more = { .attr_mask = 2 };
	struct ibv_device_attr_ex attr;

	setup();
	must_be(ibv_query_device_ex(sides[0].ctx, NULL, &attr), 0);
	must(attr.cq_mod_caps.max_cq_count >= 16);
	must(attr.cq_mod_caps.max_cq_period >= 1000);
	must_be(moderate(attr.cq_mod_caps.max_cq_count,
			 attr.cq_mod_caps.max_cq_period), 0);
	must_be(moderate(0, 0), 0);
	must_be(ibv_modify_cq(p.a.scq, &none), EINVAL);
	must(ibv_modify_cq(p.a.scq, &more));
}

static void moderation_counts(void)
{
	int round;

	setup();
	must_be(moderate(4, 0), 0);
	for (round = 0; round < 5; round++) {
		arm();
		complete_from(0, 3);
		want_from(0, 3);
		must(!event_comes(20));
		post_from(3, 1);
		must(event_comes(BOUND));
		want_from(3, 1);
	}
	must(!event_comes(20));
	/* a queue that is not armed raises no event */
	complete_from(0, 8);
	must(!event_comes(20));
}

static void moderation_waits(void)
{
	__u64 begin, took;

	setup();
	must_be(moderate(0, 30000), 0);
	arm();
	begin = now_us();
	post_from(0, 3);
	must(event_comes(BOUND));
	took = now_us() - begin;
	if (took < 30000)
		case_fail("the event came after %llu us",
			  (unsigned long long)took);
	want_from(0, 3);
	must(!event_comes(100));
}

static void moderation_ends(void)
{
	setup();
	must_be(moderate(100, 0), 0);
	arm();
	post_from(0, 2);
	want_from(0, 2);
	must(!event_comes(20));
	must_be(moderate(0, 0), 0);
	must(event_comes(BOUND));
	arm();
	post_from(0, 1);
	must(event_comes(BOUND));
}

static void moderation_error(void)
{
	setup();
	must_be(moderate(100, 0), 0);
	arm();
	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
	post_from(0, 1);
	must(event_comes(BOUND));
	wc_want(p.a.scq, 0, IBV_WC_WR_FLUSH_ERR);
}

static void moderation_full(void)
{
	setup_cqe(4);
	must_be(moderate(100, 0), 0);
	arm();
	post_from(0, p.a.scq->cqe);
	must(event_comes(BOUND));
	want_from(0, p.a.scq->cqe);
}

/* ---- overflow ---- */

static void cq_err_comes(struct side *s, struct ibv_cq *cq)
{
	struct ibv_async_event ev = {};

	do {
		if (!event_wait(s, &ev, BOUND))
			case_fail("no event for the overrun");
	} while (ev.event_type != IBV_EVENT_CQ_ERR);
	must(ev.element.cq == cq);
}

static void overrun(void)
{
	int cqe;

	setup_cqe(4);
	cqe = p.a.scq->cqe;
	post_from(0, cqe + 3);
	cq_err_comes(&sides[0], p.a.scq);
	state_becomes(&p.a, IBV_QPS_ERR);
	/* completions before the overrun are intact, and nothing follows them */
	want_from(0, cqe);
	wc_none(p.a.scq, 20);
	event_none(&sides[0], IBV_EVENT_CQ_ERR, 20);
}

/* A program may post a message before it has polled the completion of the last one. */
static void smallest(void)
{
	setup_cqe(1);
	must(p.a.scq->cqe >= 2);
	post_from(0, 2);
	want_from(0, 2);
	wc_none(p.a.scq, 20);
}

/* Two queue pairs share a CQ: when one overruns it, the other fails as well. */
static void overrun_shared(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_RDMA_WRITE, NULL, 0);
	struct opt o = opt_default;
	struct pair other;
	struct ibv_cq *cq;
	int i;

	o.cqe = 4;
	cq = cq_make(&sides[0], 4, NULL);
	o.cq = cq;
	pair_make(&p, &o, NULL);
	pair_make(&other, &o, NULL);
	for (i = 0; i <= cq->cqe; i++)
		must_be(post_one(&p.a, &wr), 0);
	cq_err_comes(&sides[0], cq);
	state_becomes(&p.a, IBV_QPS_ERR);
	must_be(state_of(&other.a), IBV_QPS_RTS);
	must_be(post_one(&other.a, &wr), 0);
	state_becomes(&other.a, IBV_QPS_ERR);
}

static struct ibv_cq *cq_ex_make(struct ibv_cq_init_attr_ex *init)
{
	struct ibv_cq_ex *ex = ibv_create_cq_ex(sides[0].ctx, init);

	must(ex);
	cq_own(ibv_cq_ex_to_cq(ex));
	return ibv_cq_ex_to_cq(ex);
}

static void overrun_ignored(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct opt o = opt_default;
	int i;

	o.cq = cq_ex_make(&init);
	pair_make(&p, &o, NULL);
	complete_from(0, o.cq->cqe + 5);
	event_none(&sides[0], IBV_EVENT_CQ_ERR, 20);
	must_be(state_of(&p.a), IBV_QPS_RTS);
	for (i = 0; i < o.cq->cqe; i++)
		wc_want(o.cq, NO_ID, IBV_WC_SUCCESS);
	wc_none(o.cq, 1);
	complete_from(100, 1);
	wc_want(o.cq, 100, IBV_WC_SUCCESS);
}

/* ---- vectors ---- */

/* Number of softirqs for tasklets and BH work on @cpu */
static long long softirqs_of(int cpu)
{
	FILE *f = fopen("/proc/softirqs", "r");
	char line[4096], *at;
	long long n = -1;
	int i;

	must(f);
	while (n < 0 && fgets(line, sizeof(line), f)) {
		at = strstr(line, "TASKLET:");
		if (!at)
			continue;
		at += strlen("TASKLET:");
		for (i = 0; i <= cpu; i++)
			n = strtoll(at, &at, 10);
	}
	fclose(f);
	must(n >= 0);
	return n;
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must_be(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Causes @n events of a queue on @vector, running on CPU 0. */
static void events_on(int vector, int n)
{
	struct opt o = opt_default;
	int i;

	o.vector = vector;
	pair_make(&p, &o, NULL);
	for (i = 0; i < n; i++) {
		arm();
		post_from(i, 1);
		must(event_comes(BOUND));
		want_from(i, 1);
	}
}

static void vector_range(void)
{
	struct ibv_context *ctx = sides[0].ctx;
	int i;

	must_be(ctx->num_comp_vectors, sysconf(_SC_NPROCESSORS_CONF));
	for (i = 0; i < ctx->num_comp_vectors; i++)
		events_on(i, 3);
	must(!ibv_create_cq(ctx, 8, NULL, NULL, ctx->num_comp_vectors));
	must_be(errno, EINVAL);
	must(!ibv_create_cq(ctx, 8, NULL, NULL, -1));
	must_be(errno, EINVAL);
}

static void vector_cpu(void)
{
	cpu_set_t all;
	long long n;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		case_skip("only one processor");
	if (kernel_before(6, 9))
		case_skip("events are not raised by softirqs, so they cannot be counted");
	must_be(sched_getaffinity(0, sizeof(all), &all), 0);
	run_on(0);
	n = softirqs_of(1);
	events_on(1, 40);
	n = softirqs_of(1) - n;
	must_be(sched_setaffinity(0, sizeof(all), &all), 0);
	if (n < 30)
		case_fail("40 events on vector 1, %lld interrupts there", n);
}

/* ---- the extended queue ---- */

static __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	must_be(clock_gettime(clock, &ts), 0);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#define SLACK	1000000		/* ns: the wall clock may be slewed */

static void time_stamps(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_poll_cq_attr poll_attr = {};
	struct opt o = opt_default;
	__u64 raw, ts, wall, when;
	struct ibv_cq_ex *ex;
	int i;

	o.cq = cq_ex_make(&init);
	ex = (struct ibv_cq_ex *)o.cq;
	pair_make(&p, &o, NULL);
	for (i = 0; i < 10; i++) {
		raw = clock_ns(CLOCK_MONOTONIC_RAW);
		wall = clock_ns(CLOCK_REALTIME);
		post_from(i, 1);
		while (ibv_start_poll(ex, &poll_attr))
			;
		ts = ibv_wc_read_completion_ts(ex);
		when = ibv_wc_read_completion_wallclock_ns(ex);
		must_be(ibv_wc_read_completion_wallclock_ns(ex), when);
		ibv_end_poll(ex);
		must(ts >= raw && ts <= clock_ns(CLOCK_MONOTONIC_RAW));
		must(when + SLACK >= wall &&
		     when <= clock_ns(CLOCK_REALTIME) + SLACK);
	}
	raw = clock_ns(CLOCK_MONOTONIC_RAW);
	must_be(ibv_query_rt_values_ex(sides[0].ctx, &values), 0);
	ts = values.raw_clock.tv_sec * 1000000000ULL +
	     values.raw_clock.tv_nsec;
	must(ts >= raw && ts <= clock_ns(CLOCK_MONOTONIC_RAW));
}

/* While polling a program may arm the CQ and destroy the queue pair. */
static void within_poll(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 8 };
	struct ibv_poll_cq_attr poll_attr = {};
	struct opt o = opt_default;
	struct ibv_cq_ex *ex;
	struct pair other;
	struct end spare;
	struct ibv_cq *cq;
	void *context;
	int i;

	end_make(&spare, &sides[0], &opt_default);
	init.channel = spare.channel;
	o.cq = cq_ex_make(&init);
	ex = (struct ibv_cq_ex *)o.cq;
	pair_make(&p, &o, NULL);
	pair_make(&other, &o, NULL);
	for (i = 0; i < 4; i++)
		complete_from(i, 1);

	watchdog(true);
	must_be(ibv_start_poll(ex, &poll_attr), 0);
	must_be(ex->wr_id, 0);
	must_be(ibv_req_notify_cq(o.cq, 0), 0);
	must_be(ibv_next_poll(ex), 0);
	end_destroy_qp(&p.a);
	must_be(ex->wr_id, 1);
	must_be(ibv_next_poll(ex), ENOENT);
	ibv_end_poll(ex);
	watchdog(false);

	p = other;
	post_from(9, 1);
	must_be(ibv_get_cq_event(spare.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	wc_want(o.cq, 9, IBV_WC_SUCCESS);
}

static void single_threaded(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 64,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct opt o = opt_default;

	o.cq = cq_ex_make(&init);
	pair_make(&p, &o, NULL);
	p.a.scq = o.cq;
	complete_from(0, 10);
	want_from(0, 10);
	must_be(ibv_resize_cq(o.cq, 100), 0);
	complete_from(0, 10);
	want_from(0, 10);
}

static void refused(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = 1 << 30,
	};

	must(!ibv_create_cq_ex(sides[0].ctx, &init));
	must(errno == EOPNOTSUPP || errno == EINVAL);
	init.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	must(!ibv_create_cq_ex(sides[0].ctx, &init));
	must_be(errno, EINVAL);
	init.parent_domain = sides[0].pd;
	must(!ibv_create_cq_ex(sides[0].ctx, &init));
	must_be(errno, EINVAL);
	init.comp_mask = 0;
	init.wc_flags = IBV_WC_EX_WITH_TM_INFO;
	must(!ibv_create_cq_ex(sides[0].ctx, &init));
	must_be(errno, EOPNOTSUPP);
}

static const struct vrb_case cq_cases[] = {
	{ "cq", "resize: unread completions are kept", resize_keeps },
	{ "cq", "resize: too small is EINVAL", resize_too_small },
	{ "cq", "resize: no address space left", resize_no_space },
	{ "cq", "resize under traffic, polling", resize_traffic },
	{ "cq", "resize under traffic, waiting for events", resize_events },
	{ "cq", "resize: an armed queue stays armed", resize_armed },
	{ "cq", "moderation: limits", moderation_caps },
	{ "cq", "moderation: completions per event", moderation_counts },
	{ "cq", "moderation: an event is delayed by the period", moderation_waits },
	{ "cq", "moderation: switching it off raises the pending event",
	  moderation_ends },
	{ "cq", "moderation: an error is not delayed", moderation_error },
	{ "cq", "moderation: a full queue is not delayed", moderation_full },
	{ "cq", "overrun: event, error, earlier completions are intact", overrun },
	{ "cq", "the smallest has room for two", smallest },
	{ "cq", "overrun: all QPs that share the queue fail",
	  overrun_shared },
	{ "cq", "overrun ignored", overrun_ignored },
	{ "cq", "vectors: one per processor", vector_range },
	{ "cq", "vectors: events are raised on the vector's processor", vector_cpu },
	{ "cq", "timestamps, raw and wall-clock", time_stamps },
	{ "cq", "verbs between start_poll and end_poll", within_poll },
	{ "cq", "single threaded", single_threaded },
	{ "cq", "unsupported attributes are refused", refused },
};

VRB_TOPIC("cq", cq_cases);
