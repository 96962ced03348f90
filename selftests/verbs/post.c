// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: posting with credentials other than those
 * that opened the device, during a slow doorbell, and to a removed device
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vrb.h"

#define NOBODY	65534
#define LEN	64

static struct pair p;
static struct mem ma, mb;

static void setup(void)
{
	struct opt o = opt_default;

	o.send_ops = IBV_QP_EX_WITH_RDMA_WRITE;
	pair_make(&p, &o, NULL);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	fill(ma.p, LEN, 1);
}

static int post_write(__u64 id)
{
	struct ibv_sge sge = sge_of(&ma, 0, LEN);
	struct ibv_send_wr wr = wr_of(id, IBV_WR_RDMA_WRITE, &sge, 1);

	wr_target(&wr, &mb, 0);
	return post_one(&p.a, &wr);
}

static int end_post_by_wr(struct end *e, __u64 id)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(e->qp);

	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, mb.mr->rkey, (uintptr_t)mb.p);
	ibv_wr_set_sge(ex, ma.mr->lkey, (uintptr_t)ma.p, LEN);
	return ibv_wr_complete(ex);
}

static int post_by_wr(__u64 id)
{
	return end_post_by_wr(&p.a, id);
}

static int post_receive(__u64 id)
{
	return post_recv(&p.a, id, NULL, 0);
}

/* ---- other credentials ---- */

/**
 * struct errand - a post by a thread that has changed its credentials
 * @post: the function that posts
 * @id: wr_id of the work request
 * @err: its result
 */
struct errand {
	int (*post)(__u64 id);
	__u64 id;
	int err;
};

/* By raw system call: the C library would change the credentials of all threads. */
static void *errand_run(void *arg)
{
	struct errand *e = arg;

	if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY))
		e->err = errno;
	else
		e->err = e->post(e->id);
	return NULL;
}

static void as_nobody(int (*post)(__u64 id), __u64 id)
{
	struct errand e = { .post = post, .id = id };
	pthread_t thread;

	must_be(pthread_create(&thread, NULL, errand_run, &e), 0);
	must_be(pthread_join(thread, NULL), 0);
	must_be(e.err, 0);
}

static void sends_as_nobody(void)
{
	setup();
	as_nobody(post_write, 1);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(mb.p, LEN, 1, "a write");
	fill(ma.p, LEN, 2);
	as_nobody(post_by_wr, 2);
	wc_want(p.a.scq, 2, IBV_WC_SUCCESS);
	same(mb.p, LEN, 2, "another write");
	/* the original credentials still work */
	must_be(post_write(3), 0);
	wc_want(p.a.scq, 3, IBV_WC_SUCCESS);
}

static void flushes_as_nobody(void)
{
	setup();
	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
	as_nobody(post_receive, 1);
	wc_want(p.a.rcq, 1, IBV_WC_WR_FLUSH_ERR);
	as_nobody(post_write, 2);
	wc_want(p.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
}

/* ---- a slow doorbell ---- */

/**
 * struct held - a posting thread that is stopped before it rings the doorbell
 * @post: the function that posts
 * @id: wr_id of the work request
 * @err: its result
 * @rings: posted by the thread when it is about to ring
 * @enter: posted to let it proceed
 * @thread: the thread
 */
struct held {
	int (*post)(__u64 id);
	__u64 id;
	int err;
	sem_t rings;
	sem_t enter;
	pthread_t thread;
};

static _Thread_local struct held *held;

/* Only the first system call of a thread is held. */
static void hold(void)
{
	struct held *h = held;

	if (!h)
		return;
	held = NULL;
	sem_post(&h->rings);
	sem_wait(&h->enter);
}

/* These two functions replace those of the C library for the provider. */
ssize_t write(int fd, const void *buf, size_t len)
{
	hold();
	return syscall(SYS_write, fd, buf, len);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	hold();
	return syscall(SYS_ioctl, fd, request, arg);
}

static void *held_run(void *arg)
{
	struct held *h = arg;

	held = h;
	h->err = h->post(h->id);
	if (held)
		h->err = ENOMSG;	/* no doorbell */
	held = NULL;
	sem_post(&h->rings);
	return NULL;
}

static int held_end(void *arg)
{
	struct held *h = arg;

	sem_post(&h->enter);
	return pthread_join(h->thread, NULL);
}

/* While one thread rings for its work request, another posts and rings. */
static void beside(int (*first)(__u64 id), int (*second)(__u64 id),
		   struct ibv_cq *cq, enum ibv_wc_status status)
{
	static struct held h;

	h = (struct held){ .post = first, .id = 1 };
	must_be(sem_init(&h.rings, 0, 0), 0);
	must_be(sem_init(&h.enter, 0, 0), 0);
	must_be(pthread_create(&h.thread, NULL, held_run, &h), 0);
	undo_later(held_end, &h);
	must_be(sem_wait(&h.rings), 0);

	watchdog(true);	/* the first thread might hold a lock */
	must_be(second(2), 0);
	watchdog(false);
	/* a doorbell is for all that is in the ring */
	wc_want(cq, 1, status);
	wc_want(cq, 2, status);

	undo_now(&h);
	must_be(h.err, 0);
	must_be(second(3), 0);
	wc_want(cq, 3, status);
}

static void sends_beside(void)
{
	int (*const post[])(__u64 id) = { post_write, post_by_wr };
	size_t i, j;

	setup();
	for (i = 0; i < ARRAY_SIZE(post); i++)
		for (j = 0; j < ARRAY_SIZE(post); j++)
			beside(post[i], post[j], p.a.scq, IBV_WC_SUCCESS);
}

static void receives_beside(void)
{
	setup();
	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
	beside(post_receive, post_receive, p.a.rcq, IBV_WC_WR_FLUSH_ERR);
}

/* ---- work requests in a command ---- */

/* Passes @num_wrs work requests of no bytes; returns errno. */
static int post_command(bool recv, __u32 num_wrs)
{
	struct ib_uverbs_post_send_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr	hdr;
		struct ib_uverbs_post_send	body;	/* same layout for receives */
		struct ib_uverbs_send_wr	wr;
	} cmd = {
		.hdr.command = recv ? IB_USER_VERBS_CMD_POST_RECV :
				      IB_USER_VERBS_CMD_POST_SEND,
		.hdr.out_words = sizeof(answer) / 4,
		.body.response = (uintptr_t)&answer,
		.body.qp_handle = p.a.qp->handle,
		.body.wr_count = num_wrs,
		.body.wqe_size = recv ? sizeof(struct ib_uverbs_recv_wr) : sizeof(cmd.wr),
	};
	size_t size = offsetof(typeof(cmd), wr) + num_wrs * cmd.body.wqe_size;

	cmd.hdr.in_words = size / 4;
	return write(p.a.qp->context->cmd_fd, &cmd, size) < 0 ? errno : 0;
}

/* The commands are doorbells: the rings are the only way to pass work requests. */
static void in_command(void)
{
	setup();
	must_be(post_command(false, 0), 0);
	must_be(post_command(false, 1), EOPNOTSUPP);
	must_be(post_command(true, 0), 0);
	must_be(post_command(true, 1), EOPNOTSUPP);
	must_be(post_write(1), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
}

/* ---- a removed device ---- */

/* The event is for no object, so the element field is undefined. */
static void device_goes(struct side *s)
{
	struct ibv_async_event ev;
	char command[64];
	int status;

	snprintf(command, sizeof(command), "rdma link delete %s", s->dev);
	side_enter(s);
	status = system(command);
	side_leave(s);
	must_be(status, 0);
	do
		must(event_wait(s, &ev, BOUND));
	while (ev.event_type != IBV_EVENT_DEVICE_FATAL);
}

/**
 * struct queues - queues to which nothing was posted before the device went
 * @wr: queue pair for ibv_wr_*
 * @bind: queue pair for memory windows of type 1
 * @recv: queue pair for receives
 * @srq: shared receive queue
 * @wq: receive work queue; NULL without raw packets
 */
struct queues {
	struct pair wr;
	struct pair bind;
	struct pair recv;
	struct ibv_srq *srq;
	struct ibv_wq *wq;
};

static void queues_make(struct queues *q)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 1,
		.max_sge = 1,
		.pd = sides[0].pd,
		.cq = cq_make(&sides[0], 1, NULL),
	};
	struct opt o = opt_default;

	o.send_ops = IBV_QP_EX_WITH_RDMA_WRITE;
	pair_make(&q->wr, &o, NULL);
	pair_make(&q->bind, NULL, NULL);
	pair_make(&q->recv, NULL, NULL);
	q->srq = srq_make(&sides[0], sides[0].pd, 1, 1);
	q->wq = ibv_create_wq(sides[0].ctx, &init);
	must(q->wq);
	wq_own(q->wq);
}

/* The first doorbell fails; later posts fail without one. */
static void nothing_is_posted(void)
{
	struct ibv_send_wr wr[2], *bad;
	int i;

	wr[0] = wr_of(1, IBV_WR_SEND, NULL, 0);
	wr[1] = wr_of(2, IBV_WR_SEND, NULL, 0);
	wr[0].next = &wr[1];
	for (i = 0; i < 2; i++) {
		bad = NULL;
		must_be(ibv_post_send(p.a.qp, wr, &bad), EIO);
		must(bad == &wr[0]);
	}
	must_be(post_by_wr(4), EIO);
}

static void nothing_is_bound(struct ibv_qp *qp, struct ibv_mw *mw)
{
	struct ibv_mw_bind bind = {
		.bind_info = {
			.mr = ma.mr,
			.addr = (uintptr_t)ma.p,
			.length = LEN,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ,
		},
	};
	__u32 rkey = mw->rkey;

	must_be(ibv_bind_mw(qp, mw, &bind), EIO);
	must_be(mw->rkey, rkey);
}

/* Receives need no doorbell while there is a device. */
static void nothing_is_received(const struct queues *q)
{
	struct ibv_recv_wr wr[2] = { { .wr_id = 3, .next = &wr[1] } }, *bad;
	int i;

	for (i = 0; i < 2; i++) {
		bad = NULL;
		must_be(ibv_post_recv(q->recv.a.qp, wr, &bad), EIO);
		must(bad == &wr[0]);
		bad = NULL;
		must_be(ibv_post_srq_recv(q->srq, wr, &bad), EIO);
		must(bad == &wr[0]);
		bad = NULL;
		must_be(ibv_post_wq_recv(q->wq, wr, &bad), EIO);
		must(bad == &wr[0]);
	}
}

static void gone(void)
{
	struct queues q;
	struct ibv_mw *mw;

	setup();
	queues_make(&q);
	mem_own(&ma, sides[0].pd, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[0].pd, IBV_MW_TYPE_1);
	device_goes(&sides[0]);
	nothing_is_posted();
	must_be(end_post_by_wr(&q.wr.a, 5), EIO);
	nothing_is_bound(p.a.qp, mw);
	nothing_is_bound(q.bind.a.qp, mw);
	nothing_is_received(&q);
	wc_none(p.a.scq, 20);
}

static const struct vrb_case post_cases[] = {
	{ "post", "sends under other credentials", sends_as_nobody },
	{ "post", "receives in error under other credentials",
	  flushes_as_nobody },
	{ "post", "sends during a slow doorbell", sends_beside },
	{ "post", "receives during a slow doorbell", receives_beside },
	{ "post", "work requests in a command are refused", in_command },
};

VRB_TOPIC("post", post_cases);

static const struct vrb_case gone_cases[] = {
	{ "gone", "device removal: no request is posted", gone },
};

VRB_CASES(gone_cases);
