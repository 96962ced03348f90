// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: parent domains, thread domains, import of
 * objects by another process, and fork
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vrb.h"

#define LEN	20000

static struct pair p;
static struct mem ma, mb;

/* WRITEs all of @ma to mb by @rkey. */
static void write_all(__u32 seed, __u32 rkey)
{
	struct ibv_sge sge = sge_of(&ma, 0, LEN);
	struct ibv_send_wr wr = wr_of(seed, IBV_WR_RDMA_WRITE, &sge, 1);

	fill(ma.p, LEN, seed);
	wr_target(&wr, &mb, 0);
	wr.wr.rdma.rkey = rkey;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, seed, IBV_WC_SUCCESS);
	same(mb.p, LEN, seed, "the region");
}

/* ---- parent domains ---- */

enum { MEM_OURS, MEM_DEFAULT, MEM_NONE };

static struct {
	int how;
	struct ibv_pd *pd;
	int allocs;
	int frees;
	int wrong;
} heap;

static void *heap_alloc(struct ibv_pd *pd, void *context, size_t size,
			size_t alignment, uint64_t type)
{
	void *mem;

	heap.wrong += pd != heap.pd || context != &heap || !type;
	heap.allocs++;
	if (heap.how == MEM_DEFAULT)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (heap.how == MEM_NONE || posix_memalign(&mem, alignment, size))
		return NULL;
	memset(mem, 0x5a, size);
	return mem;
}

static void heap_free(struct ibv_pd *pd, void *context, void *mem,
		      uint64_t type)
{
	heap.wrong += pd != heap.pd || context != &heap || !type;
	heap.frees++;
	free(mem);
}

static struct ibv_pd *parent_make(struct ibv_pd *pd, struct ibv_td *td, int how)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd,
		.td = td,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = heap_alloc,
		.free = heap_free,
		.pd_context = &heap,
	};

	memset(&heap, 0, sizeof(heap));
	heap.how = how;
	heap.pd = ibv_alloc_parent_domain(pd->context, &attr);
	must(heap.pd);
	return heap.pd;
}

/* One object of each kind that can be created in a parent domain */
struct things {
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
};

static void things_make(struct things *t, struct ibv_pd *pd)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 8,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = pd,
	};
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};

	t->cq = ibv_create_cq_ex(pd->context, &cq);
	t->srq = ibv_create_srq(pd, &srq);
	qp.srq = t->srq;
	qp.send_cq = t->cq ? ibv_cq_ex_to_cq(t->cq) : NULL;
	qp.recv_cq = qp.send_cq;
	t->qp = ibv_create_qp(pd, &qp);
}

static void things_destroy(struct things *t)
{
	must_be(ibv_destroy_qp(t->qp), 0);
	must_be(ibv_destroy_srq(t->srq), 0);
	must_be(ibv_destroy_cq(ibv_cq_ex_to_cq(t->cq)), 0);
}

static void allocators(void)
{
	struct ibv_td_init_attr init = {};
	struct ibv_pd *pd, *parent;
	struct things t;
	struct ibv_td *td;

	td = ibv_alloc_td(sides[0].ctx, &init);
	must(td);
	pd = pd_make(&sides[0]);
	parent = parent_make(pd, td, MEM_OURS);
	things_make(&t, parent);
	must(t.cq && t.srq && t.qp);
	must(heap.allocs >= 3 && !heap.frees && !heap.wrong);
	/* each is in use by the next */
	must_be(ibv_dealloc_pd(parent), EBUSY);
	must_be(ibv_dealloc_pd(pd), EBUSY);
	must_be(ibv_dealloc_td(td), EBUSY);
	things_destroy(&t);
	must_be(heap.frees, heap.allocs);
	must(!heap.wrong);
	must_be(ibv_dealloc_pd(pd), EBUSY);
	must_be(ibv_dealloc_pd(parent), 0);
	must_be(ibv_dealloc_td(td), 0);
}

static void allocator_default(void)
{
	struct ibv_pd *parent = parent_make(pd_make(&sides[0]), NULL,
					    MEM_DEFAULT);
	struct things t;

	pd_own(parent);
	things_make(&t, parent);
	must(t.cq && t.srq && t.qp);
	things_destroy(&t);
	must(heap.allocs >= 3 && !heap.frees && !heap.wrong);
}

static void allocator_none(void)
{
	struct ibv_pd *parent = parent_make(pd_make(&sides[0]), NULL, MEM_NONE);
	struct things t;

	pd_own(parent);
	errno = 0;
	things_make(&t, parent);
	must(!t.cq && !t.srq && !t.qp);
	must_be(errno, ENOMEM);
	must(heap.allocs >= 3 && !heap.frees);
}

/* IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC is permissive: may be ignored. */
static void parent_unprotected(void)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = sides[0].pd, .comp_mask = 1U << 2,
	};
	struct ibv_pd *parent = ibv_alloc_parent_domain(sides[0].ctx, &attr);

	must(parent);
	must_be(ibv_dealloc_pd(parent), 0);
}

/* A parent domain behaves like its protection domain. */
static void parent_data(void)
{
	struct ibv_td_init_attr init = {};
	struct opt o = opt_default;
	struct ibv_pd *parent;
	struct ibv_td *td;

	td = ibv_alloc_td(sides[1].ctx, &init);
	must(td);
	parent = parent_make(sides[1].pd, td, MEM_OURS);
	o.pd = parent;
	pair_make(&p, NULL, &o);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	write_all(1, mb.mr->rkey);
	mem_own(&mb, parent, FULL_ACCESS);
	write_all(2, mb.mr->rkey);
	end_destroy_qp(&p.b);
	must_be(ibv_dealloc_pd(parent), 0);
	must_be(ibv_dealloc_td(td), 0);
}

static void parent_refused(void)
{
	struct ibv_parent_domain_init_attr attr = { .pd = sides[0].pd };
	struct ibv_td_init_attr init = { .comp_mask = 1 };
	struct ibv_context *ctx = sides[0].ctx;

	must(!ibv_alloc_td(ctx, &init));
	must_be(errno, EINVAL);
	attr.comp_mask = 1U << 31;
	must(!ibv_alloc_parent_domain(ctx, &attr));
	must_be(errno, EOPNOTSUPP);
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	attr.alloc = heap_alloc;
	must(!ibv_alloc_parent_domain(ctx, &attr));
	must_be(errno, EINVAL);
	attr.comp_mask = 0;
	attr.pd = NULL;
	must(!ibv_alloc_parent_domain(ctx, &attr));
	must_be(errno, EINVAL);
	attr.pd = sides[1].pd;
	must(!ibv_alloc_parent_domain(ctx, &attr));
	must_be(errno, EINVAL);
}

/* ---- another process ---- */

/**
 * struct offer - what the exporting process sends to the importing one
 * @pd: handle of the protection domain
 * @mr: handle of the region
 * @addr: address of the region
 */
struct offer {
	__u32 pd;
	__u32 mr;
	__u64 addr;
};

/**
 * struct answer - reply of the importing process
 * @qpn: a queue pair in the imported domain
 * @rkey: the region's key as seen by the importing process
 * @received: bytes of a message
 */
struct answer {
	__u32 qpn;
	__u32 rkey;
	__u32 received;
};

union fd_room {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

static int offer_send(int sock, const struct offer *offer, int fd)
{
	struct iovec iov = { (void *)offer, sizeof(*offer) };
	union fd_room ctl = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.room,
		.msg_controllen = sizeof(ctl.room),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0) == sizeof(*offer) ? 0 : errno;
}

static int offer_recv(int sock, struct offer *offer)
{
	struct iovec iov = { offer, sizeof(*offer) };
	union fd_room ctl = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = ctl.room,
		.msg_controllen = sizeof(ctl.room),
	};
	int fd = -1;

	if (recvmsg(sock, &msg, 0) == sizeof(*offer) && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* The objects of the offer, as imported */
struct guest {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct end end;
};

/* Runs in the other process, so it must not end the case. */
static bool guest_make(struct guest *g, int fd, const struct offer *offer)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	g->ctx = ibv_import_device(fd);
	if (!g->ctx)
		return false;
	g->pd = ibv_import_pd(g->ctx, offer->pd);
	g->mr = g->pd ? ibv_import_mr(g->pd, offer->mr) : NULL;
	g->cq = ibv_create_cq(g->ctx, 8, NULL, NULL, 0);
	if (!g->mr || !g->cq)
		return false;
	init.send_cq = g->cq;
	init.recv_cq = g->cq;
	g->end = (struct end) { .side = &sides[1], .o = opt_default };
	g->end.qp = ibv_create_qp(g->pd, &init);
	return g->end.qp && !to_init(&g->end) && !to_rtr(&g->end, &p.a);
}

static int guest_end(struct guest *g)
{
	int bad = ibv_destroy_qp(g->end.qp);

	bad |= ibv_destroy_cq(g->cq);
	ibv_unimport_mr(g->mr);
	ibv_unimport_pd(g->pd);
	return bad | ibv_close_device(g->ctx);
}

/* Sends the received message back. */
static bool guest_sends(struct guest *g, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = wr_of(6, IBV_WR_SEND, sge, 1);
	struct ibv_wc wc = {};
	int n = 0;

	sge->length = 5000;
	if (to_rts(&g->end) || post_one(&g->end, &wr))
		return false;
	while (!n)
		n = ibv_poll_cq(g->cq, 1, &wc);
	return n > 0 && !wc.status && wc.wr_id == 6;
}

static int guest_run(int sock)
{
	struct answer answer = {};
	struct ibv_wc wc = {};
	struct offer offer;
	struct ibv_sge sge;
	struct guest g = {};
	int fd, n = 0;

	fd = offer_recv(sock, &offer);
	if (fd < 0 || !guest_make(&g, fd, &offer))
		return 2;
	sge.addr = offer.addr;
	sge.length = LEN;
	sge.lkey = g.mr->lkey;
	if (post_recv(&g.end, 5, &sge, 1))
		return 3;
	answer.qpn = g.end.qp->qp_num;
	answer.rkey = g.mr->rkey;
	if (write(sock, &answer, sizeof(answer)) != sizeof(answer))
		return 4;
	while (!n)
		n = ibv_poll_cq(g.cq, 1, &wc);
	if (n < 0 || wc.status || wc.wr_id != 5)
		return 5;
	answer.received = wc.byte_len;
	if (write(sock, &answer, sizeof(answer)) != sizeof(answer))
		return 6;
	if (!guest_sends(&g, &sge))
		return 7;
	return guest_end(&g) ? 8 : 0;
}

static void answer_read(int sock, struct answer *answer)
{
	if (read(sock, answer, sizeof(*answer)) != sizeof(*answer))
		case_fail("the other process has exited");
}

/* Runs the exporting process; @sock leads to the importing one. */
static void host_run(int sock)
{
	struct offer offer = {
		.pd = sides[1].pd->handle,
		.mr = mb.mr->handle,
		.addr = (uintptr_t)mb.p,
	};
	struct end peer = { .side = &sides[1], .o = opt_default };
	struct ibv_sge sge = sge_of(&ma, 0, 5000);
	struct ibv_send_wr wr = wr_of(9, IBV_WR_SEND, &sge, 1);
	struct ibv_sge back = sge_of(&ma, 10000, 5000);
	struct ibv_qp qp = {};
	struct answer answer;

	must_be(offer_send(sock, &offer, sides[1].ctx->cmd_fd), 0);
	answer_read(sock, &answer);
	must_be(answer.rkey, mb.mr->rkey);
	qp.qp_num = answer.qpn;
	peer.qp = &qp;
	must_be(to_init(&p.a), 0);
	must_be(post_recv(&p.a, 8, &back, 1), 0);
	must_be(to_rtr(&p.a, &peer), 0);
	must_be(to_rts(&p.a), 0);
	write_all(1, answer.rkey);
	fill(ma.p, LEN, 2);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 9, IBV_WC_SUCCESS);
	answer_read(sock, &answer);
	must_be(answer.received, 5000);
	same(mb.p, 5000, 2, "a message for the other process");
	wc_want(p.a.rcq, 8, IBV_WC_SUCCESS);
	same(ma.p + 10000, 5000, 2, "a message from the other process");
}

static void exits_well(pid_t pid)
{
	int status;

	must_be(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		case_fail("the other process ended with %#x", status);
}

static void import(void)
{
	int sock[2];
	pid_t pid;

	end_make(&p.a, &sides[0], &opt_default);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	must_be(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	pid = fork();
	if (!pid) {
		/* so that the other end sees EOF when this process exits */
		close(sock[0]);
		_exit(guest_run(sock[1]));
	}
	close(sock[1]);
	must(pid > 0);
	host_run(sock[0]);
	close(sock[0]);
	exits_well(pid);

	/* the imported objects still belong to this process */
	pair_make(&p, NULL, NULL);
	write_all(3, mb.mr->rkey);
}

static void import_refused(void)
{
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	int fds[2];

	must_be(pipe(fds), 0);
	must(!ibv_import_device(fds[0]));
	close(fds[0]);
	close(fds[1]);
	ctx = ibv_import_device(dup(sides[1].ctx->cmd_fd));
	if (!ctx)
		case_fail("no import (errno %d)", errno);
	pd = ibv_import_pd(ctx, sides[1].pd->handle);
	must(pd);
	must(!ibv_import_mr(pd, 0x7fffff));
	must_be(errno, ENOENT);
	ibv_unimport_pd(pd);
	must_be(ibv_close_device(ctx), 0);
}

/* ---- fork ---- */

/* A region refers to the memory of the process that registered it, not of a child. */
static void fork_copies(void)
{
	int sock[2];
	pid_t pid;
	char c;

	must_be(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	must_be(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	pid = fork();
	if (!pid) {
		close(sock[0]);
		memset(mb.p, 0x11, LEN);
		if (write(sock[1], "", 1) != 1 || read(sock[1], &c, 1) != 1)
			_exit(2);
		_exit(mb.p[0] != 0x11 || memcmp(mb.p, mb.p + 1, LEN - 1));
	}
	close(sock[1]);
	must(pid > 0);
	must_be(read(sock[0], &c, 1), 1);
	untouched(mb.p, LEN, "the child's copy");
	write_all(1, mb.mr->rkey);
	must_be(write(sock[0], "", 1), 1);
	exits_well(pid);
	close(sock[0]);
	/* and WRITEs still reach the parent's memory */
	write_all(2, mb.mr->rkey);
}

static const struct vrb_case domain_cases[] = {
	{ "domain", "parent domain: its allocators are called", allocators },
	{ "domain", "parent domain: allocators may use the default",
	  allocator_default },
	{ "domain", "parent domain: allocators may fail", allocator_none },
	{ "domain", "parent domain: data transfer", parent_data },
	{ "domain", "parent domain: invalid attributes are refused",
	  parent_refused },
	{ "domain", "parent domain: unprotected memory is permitted", parent_unprotected },
	{ "domain", "another process imports device, domain and region", import },
	{ "domain", "import: nonexistent handles", import_refused },
	{ "domain", "fork leaves regions with the parent", fork_copies },
};

VRB_TOPIC("domain", domain_cases);
