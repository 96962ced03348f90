// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: the verbs of a host on another machine, see far.c
 *
 * NAME_there() is what the server executes for __wrap_NAME().
 */
#include <poll.h>
#include <sys/mman.h>

#include "far.h"

/* An object whose first field is its context, as that of all is */
struct stand_in {
	union {
		struct ibv_context	*context;
		struct ibv_pd		pd;
		struct ibv_comp_channel	channel;
		struct ibv_cq		cq;
		struct ibv_qp		qp;
		struct ibv_mr		mr;
	};
	void *there;
};

static bool is_far(const void *object)
{
	return *(struct ibv_context *const *)object == &far_device.context;
}

static void *there(void *object)
{
	return object ? ((struct stand_in *)object)->there : NULL;
}

/* Creates an object; NULL if that fails. */
static struct stand_in *make(void (*run)(struct call *c), struct call *c)
{
	struct stand_in *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	c->stand_in = s;
	ask(run, c);
	if (!c->thing) {
		free(s);
		return NULL;
	}
	s->context = &far_device.context;
	s->there = c->thing;
	return s;
}

static int drop(void (*run)(struct call *c), void *object)
{
	struct call c = { .thing = there(object) };
	int err = ask(run, &c);

	if (!err)
		free(object);
	return err;
}

#define DROP(verb, type)						\
static void verb##_there(struct call *c)				\
{									\
	c->ret = verb(c->thing);					\
}									\
									\
int __wrap_##verb(type *object)						\
{									\
	return is_far(object) ? drop(verb##_there, object) :		\
				__real_##verb(object);			\
}

/* The server's memory of a new region */
static bool region_map(const struct region *r)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	return mmap(r->p, r->len, PROT_READ | PROT_WRITE, flags, -1, 0) == r->p;
}

static void reg_mr_there(struct call *c)
{
	struct region *r = region_get(c->addr, c->len);
	struct ibv_mr *mr;

	if (!r || (r->users == 1 && !region_map(r)))
		return;
	mr = ibv_reg_mr_iova2(c->parts[0], c->addr, c->len, (uintptr_t)c->addr,
			      c->numbers[0]);
	c->thing = mr;
	if (!mr)
		return;
	c->numbers[0] = mr->lkey;
	c->numbers[1] = mr->rkey;
}

struct ibv_mr *__wrap_ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len,
				       __u64 iova, unsigned int access)
{
	struct call c = { .addr = addr, .len = len, .numbers = { access } };
	struct stand_in *s;

	if (!is_far(pd))
		return __real_ibv_reg_mr_iova2(pd, addr, len, iova, access);
	must(region_get(addr, len));
	c.parts[0] = there(pd);
	s = make(reg_mr_there, &c);
	must(s);
	s->mr.pd = pd;
	s->mr.addr = addr;
	s->mr.length = len;
	s->mr.lkey = c.numbers[0];
	s->mr.rkey = c.numbers[1];
	return &s->mr;
}

struct ibv_mr *__wrap_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	if (!is_far(pd))
		return __real_ibv_reg_mr(pd, addr, len, access);
	return __wrap_ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, access);
}

static void dereg_mr_there(struct call *c)
{
	struct ibv_mr mr = *(struct ibv_mr *)c->thing;
	struct region *r = region_find(mr.addr, mr.length);

	c->ret = ibv_dereg_mr(c->thing);
	if (c->ret)
		return;
	if (r->users == 1)
		munmap(r->p, r->len);
	region_put(r);
}

int __wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	struct region *r;
	int err;

	if (!is_far(mr))
		return __real_ibv_dereg_mr(mr);
	r = region_find(mr->addr, mr->length);
	err = drop(dereg_mr_there, mr);
	if (!err)
		region_put(r);
	return err;
}

/* ---- objects ---- */

static void alloc_pd_there(struct call *c)
{
	c->thing = ibv_alloc_pd(sides[1].ctx);
}

struct ibv_pd *__wrap_ibv_alloc_pd(struct ibv_context *ctx)
{
	struct call c = {};

	return ctx == &far_device.context ? (void *)make(alloc_pd_there, &c) :
				 __real_ibv_alloc_pd(ctx);
}

DROP(ibv_dealloc_pd, struct ibv_pd)

static void create_channel_there(struct call *c)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(sides[1].ctx);

	c->thing = channel;
	if (channel)
		c->numbers[0] = channel->fd;
}

struct ibv_comp_channel *__wrap_ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct call c = {};
	struct stand_in *s;

	if (ctx != &far_device.context)
		return __real_ibv_create_comp_channel(ctx);
	s = make(create_channel_there, &c);
	if (s)
		s->channel.fd = FAR_FD + c.numbers[0];
	return (void *)s;
}

DROP(ibv_destroy_comp_channel, struct ibv_comp_channel)

static void create_cq_there(struct call *c)
{
	c->thing = ibv_create_cq(sides[1].ctx, c->numbers[0], c->stand_in, c->parts[0],
				 c->numbers[1]);
}

struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *ctx, int cqe, void *context,
				    struct ibv_comp_channel *channel, int vector)
{
	struct call c = { .numbers = { cqe, vector } };

	if (ctx != &far_device.context)
		return __real_ibv_create_cq(ctx, cqe, context, channel, vector);
	c.parts[0] = there(channel);
	return (void *)make(create_cq_there, &c);
}

DROP(ibv_destroy_cq, struct ibv_cq)

static void create_qp_there(struct call *c)
{
	struct ibv_qp *qp;

	c->init.qp_context = c->stand_in;
	c->init.send_cq = c->parts[1];
	c->init.recv_cq = c->parts[2];
	qp = ibv_create_qp(c->parts[0], &c->init);
	c->thing = qp;
	if (qp)
		c->numbers[0] = qp->qp_num;
}

struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct call c = { .init = *init };
	struct stand_in *s;

	if (!is_far(pd))
		return __real_ibv_create_qp(pd, init);
	c.parts[0] = there(pd);
	c.parts[1] = there(init->send_cq);
	c.parts[2] = there(init->recv_cq);
	s = make(create_qp_there, &c);
	if (!s)
		return NULL;
	init->cap = c.init.cap;
	s->qp.send_cq = init->send_cq;
	s->qp.recv_cq = init->recv_cq;
	s->qp.qp_num = c.numbers[0];
	return &s->qp;
}

DROP(ibv_destroy_qp, struct ibv_qp)

static void modify_qp_there(struct call *c)
{
	c->ret = ibv_modify_qp(c->thing, &c->attr, c->numbers[0]);
}

int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct call c = { .attr = *attr, .numbers = { mask } };

	if (!is_far(qp))
		return __real_ibv_modify_qp(qp, attr, mask);
	c.thing = there(qp);
	return ask(modify_qp_there, &c);
}

static void query_qp_there(struct call *c)
{
	c->ret = ibv_query_qp(c->thing, &c->attr, c->numbers[0], &c->init);
}

int __wrap_ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init)
{
	struct call c = { .numbers = { mask } };

	if (!is_far(qp))
		return __real_ibv_query_qp(qp, attr, mask, init);
	c.thing = there(qp);
	ask(query_qp_there, &c);
	*attr = c.attr;
	*init = c.init;
	init->send_cq = qp->send_cq;
	init->recv_cq = qp->recv_cq;
	return c.ret;
}

/* ---- what the server cannot do ---- */

struct ibv_srq *__wrap_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	if (is_far(pd))
		case_skip("no SRQ on another machine");
	return __real_ibv_create_srq(pd, init);
}

struct ibv_xrcd *far_open_xrcd(struct ibv_context *ctx, struct ibv_xrcd_init_attr *init)
{
	(void)ctx;
	(void)init;
	case_skip("no XRC domain on another machine");
}

/* ---- work ---- */

static bool take_list(struct call *c, const struct ibv_sge *list, int num)
{
	if (num > FAR_SGES)
		return false;
	memcpy(c->sge, list, num * sizeof(*list));
	return true;
}

static void send_there(struct call *c)
{
	struct ibv_send_wr *bad;

	c->send.next = NULL;
	c->send.sg_list = c->sge;
	c->ret = ibv_post_send(c->thing, &c->send, &bad);
}

static int far_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct call c;
	int err = 0;

	push();
	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		c = (struct call) { .thing = there(qp), .send = *wr };
		err = take_list(&c, wr->sg_list, wr->num_sge) ? ask(send_there, &c) :
								EINVAL;
	}
	return err;
}

static void recv_there(struct call *c)
{
	struct ibv_recv_wr *bad;

	c->recv.next = NULL;
	c->recv.sg_list = c->sge;
	c->ret = ibv_post_recv(c->thing, &c->recv, &bad);
}

static int far_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct call c;
	int err = 0;

	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		c = (struct call) { .thing = there(qp), .recv = *wr };
		err = take_list(&c, wr->sg_list, wr->num_sge) ? ask(recv_there, &c) :
								EINVAL;
	}
	return err;
}

static void poll_cq_there(struct call *c)
{
	c->ret = ibv_poll_cq(c->thing, 1, &c->wc);
}

static int far_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	struct call c = { .thing = there(cq) };

	if (num < 1 || ask(poll_cq_there, &c) < 1)
		return c.ret;
	*wc = c.wc;
	pull();
	return 1;
}

/* ---- events ---- */

static void notify_there(struct call *c)
{
	c->ret = ibv_req_notify_cq(c->thing, c->numbers[0]);
}

static int far_notify(struct ibv_cq *cq, int solicited_only)
{
	struct call c = { .thing = there(cq), .numbers = { solicited_only } };

	return ask(notify_there, &c);
}

/* The case acknowledges the event of the stand-in. */
static void get_cq_event_there(struct call *c)
{
	struct ibv_cq *cq;

	c->ret = ibv_get_cq_event(c->thing, &cq, &c->stand_in);
	if (!c->ret)
		ibv_ack_cq_events(cq, 1);
}

int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
			    void **context)
{
	struct call c = {};

	if (!is_far(channel))
		return __real_ibv_get_cq_event(channel, cq, context);
	c.thing = there(channel);
	ask(get_cq_event_there, &c);
	*cq = c.stand_in;
	*context = NULL;
	return c.ret;
}

static bool event_is_of_cq(const struct ibv_async_event *event)
{
	return event->event_type == IBV_EVENT_CQ_ERR;
}

static bool event_is_of_port(const struct ibv_async_event *event)
{
	return event->event_type >= IBV_EVENT_DEVICE_FATAL &&
	       event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED;
}

static void get_async_event_there(struct call *c)
{
	struct ibv_async_event *event = &c->event;

	c->ret = ibv_get_async_event(sides[1].ctx, event);
	if (c->ret)
		return;
	ibv_ack_async_event(event);
	if (event_is_of_cq(event))
		event->element.cq = event->element.cq->cq_context;
	else if (!event_is_of_port(event))
		event->element.qp = event->element.qp->qp_context;
}

int __wrap_ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	struct call c = {};

	if (ctx != &far_device.context)
		return __real_ibv_get_async_event(ctx, event);
	ask(get_async_event_there, &c);
	*event = c.event;
	return c.ret;
}

static void poll_there(struct call *c)
{
	struct pollfd fd = { .fd = c->numbers[0], .events = POLLIN };

	c->ret = poll(&fd, 1, c->numbers[1]);
}

int __wrap_poll(struct pollfd *fds, nfds_t num, int ms)
{
	struct call c = { .numbers = { fds->fd - FAR_FD, ms } };

	return fds->fd < FAR_FD ? __real_poll(fds, num, ms) : ask(poll_there, &c);
}

const struct ibv_context_ops far_ops = {
	.post_send = far_send,
	.post_recv = far_recv,
	.poll_cq = far_poll_cq,
	.req_notify_cq = far_notify,
};
