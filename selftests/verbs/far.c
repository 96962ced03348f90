// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: the second host on another machine
 *
 * "vrb -P" opens a device and serves "vrb -p ADDRESS", which runs the cases.  The linker
 * directs calls of libibverbs here (--wrap, see Makefile): the server executes those for
 * objects of the far device, the library all others.  An object of the server has a
 * stand-in in the client.  Both processes are the same program, so a call names the
 * function to execute by its offset.
 *
 * A far region lies at the same address in both processes.  What the case has changed
 * there is sent before a request is posted, and what the device has changed comes after a
 * completion.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "far.h"

#define PORT		18519
#define PLACE		0x1000000000UL	/* where neither process has memory of its own */
#define PAGE		4096UL
#define MIRRORED	(64UL << 20)	/* longest region whose contents are exchanged */

struct verbs_context far_device;
static struct ibv_context_ops near_ops;	/* those of the near device */
static FILE *to, *from;

/* ---- calls ---- */

static _Noreturn void lost(void)
{
	printf("Bail out! no connection to the other machine\n");
	exit(2);
}

static void put(const void *p, size_t len)
{
	if (fwrite(p, len, 1, to) != 1)
		lost();
}

static void get(void *p, size_t len)
{
	if (fflush(to) || fread(p, len, 1, from) != 1)
		lost();
}

static void ask_begin(void (*run)(struct call *c), struct call *c)
{
	c->run = (intptr_t)run - (intptr_t)ask;
	put(c, sizeof(*c));
}

static int ask_end(struct call *c)
{
	get(c, sizeof(*c));
	errno = c->err;
	return c->ret;
}

int ask(void (*run)(struct call *c), struct call *c)
{
	ask_begin(run, c);
	return ask_end(c);
}

/* ---- memory ---- */

static struct region regions[MAX_THINGS];

struct change {
	__u8	*p;
	size_t	len;	/* 0: no more */
};

struct region *region_find(const __u8 *p, size_t len)
{
	struct region *r;

	for (r = regions; r < regions + MAX_THINGS; r++)
		if (r->users && p >= r->p && p + len <= r->p + r->len)
			return r;
	return NULL;
}

struct region *region_get(__u8 *p, size_t len)
{
	struct region *r = region_find(p, len);
	int i;

	for (i = 0; !r && i < MAX_THINGS; i++)
		if (!regions[i].users)
			r = &regions[i];
	if (r && !r->users++) {
		r->p = p;
		r->len = len;
		r->last = len > MIRRORED ? NULL : calloc(1, len);
	}
	return r;
}

void region_put(struct region *r)
{
	if (--r->users)
		return;
	free(r->last);
	r->last = NULL;
}

/* The number of bytes from @i on that have changed, or that have not */
static size_t region_run(const struct region *r, size_t i, bool changed)
{
	size_t k = i;

	while (k < r->len && (r->p[k] != r->last[k]) == changed) {
		if (!changed && !(k % PAGE) && r->len - k >= PAGE &&
		    !memcmp(r->p + k, r->last + k, PAGE))
			k += PAGE;
		else
			k++;
	}
	return k - i;
}

static void region_changes_put(struct region *r)
{
	struct change change;
	size_t i = 0;

	while (i += region_run(r, i, false), i < r->len) {
		change.p = r->p + i;
		change.len = region_run(r, i, true);
		memcpy(r->last + i, change.p, change.len);
		put(&change, sizeof(change));
		put(r->last + i, change.len);
		i += change.len;
	}
}

static void changes_put(void)
{
	struct change none = {};
	struct region *r;

	for (r = regions; r < regions + MAX_THINGS; r++)
		if (r->last)
			region_changes_put(r);
	put(&none, sizeof(none));
}

static void changes_get(void)
{
	struct change change;
	struct region *r;

	while (get(&change, sizeof(change)), change.len) {
		r = region_find(change.p, change.len);
		if (!r)
			lost();
		get(change.p, change.len);
		memcpy(r->last + (change.p - r->p), change.p, change.len);
	}
}

static void push_there(struct call *c)
{
	(void)c;
	changes_get();
}

void push(void)
{
	struct call c = {};
	bool changed = false;
	struct region *r;

	for (r = regions; r < regions + MAX_THINGS; r++)
		changed |= r->last && memcmp(r->p, r->last, r->len);
	if (!changed)
		return;
	ask_begin(push_there, &c);
	changes_put();
	ask_end(&c);
}

static void pull_there(struct call *c)
{
	(void)c;
	changes_put();
}

void pull(void)
{
	struct call c = {};

	ask_begin(pull_there, &c);
	changes_get();
	ask_end(&c);
}

static void *far_place(size_t len)
{
	static __u8 *next = (void *)PLACE;
	void *place = next;

	if (!to)
		return NULL;
	next += (len + 2 * PAGE - 1) & -PAGE;
	return place;
}

/* ---- both processes ---- */

static int near_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	push();
	return near_ops.post_send(qp, wr, bad);
}

static int near_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	int n = near_ops.poll_cq(cq, num, wc);

	if (n > 0)
		pull();
	return n;
}

/* A socket in the host of @s, for the server's @address; -1 if there cannot be one */
static int wire_socket(const struct side *s, const char *address,
		       struct sockaddr_in *sin)
{
	int fd = -1;

	*sin = (struct sockaddr_in) { .sin_family = AF_INET, .sin_port = htons(PORT) };
	side_enter(s);
	if (inet_pton(AF_INET, address, &sin->sin_addr) == 1)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	side_leave(s);
	return fd;
}

static bool wire_open(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	from = fdopen(fd, "r");
	to = fdopen(dup(fd), "w");
	return from && to;
}

static void side_there(struct call *c)
{
	c->side = sides[1];
	c->numbers[0] = sides[1].ctx->async_fd;
}

static int far_open(struct side *s, const char *address)
{
	struct sockaddr_in sin;
	int fd = wire_socket(&sides[0], address, &sin);
	struct call c = {};

	if (connect(fd, (void *)&sin, sizeof(sin)) || !wire_open(fd)) {
		perror(address);
		return -ENOTCONN;
	}
	ask(side_there, &c);
	*s = c.side;
	s->dev = strdup(address);
	s->nsfd = -1;
	s->ctx = &far_device.context;
	far_device.context.async_fd = FAR_FD + c.numbers[0];
	far_device.sz = sizeof(far_device);
	far_device.open_xrcd = far_open_xrcd;
	far_device.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	far_device.context.ops = far_ops;
	s->pd = ibv_alloc_pd(s->ctx);
	near_ops = sides[0].ctx->ops;
	sides[0].ctx->ops.post_send = near_send;
	sides[0].ctx->ops.poll_cq = near_poll_cq;
	return s->pd ? 0 : -errno;
}

static int far_serve(void)
{
	struct sockaddr_in sin;
	int fd = wire_socket(&sides[1], "0.0.0.0", &sin), one = 1;
	struct call c;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&sin, sizeof(sin)) || listen(fd, 1) ||
	    !wire_open(accept(fd, NULL, NULL))) {
		perror("vrb: server");
		return 2;
	}
	close(fd);
	while (fread(&c, sizeof(c), 1, from) == 1) {
		errno = 0;
		((void (*)(struct call *))((intptr_t)ask + c.run))(&c);
		c.err = errno;
		put(&c, sizeof(c));
		if (fflush(to))
			lost();
	}
	return 0;
}

static void __attribute__((constructor)) far_register(void)
{
	static const struct vrb_far far = { far_open, far_serve, far_place };

	vrb_far = &far;
}
