// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - links, modules and namespaces while each allocation fails
 * once
 *
 * usage: nth [-s STEP] [-S SEED] link DEV NETDEV	rdma link add and del
 *	  nth [-s STEP] [-S SEED] module FILE NAME	load and unload
 *	  nth [-s STEP] [-S SEED] netns			a new namespace
 *	  nth handles DEV				many address handles
 *
 * The Nth allocation of a call fails, for N = 1, 2, ... (or random steps of up
 * to twice STEP), until the call makes fewer than N allocations.  A call that
 * fails must return an error code of a lack of memory, and succeed when it is
 * repeated.  For a new namespace, in which each subsystem of the kernel allocates,
 * it may be any error.
 *
 * For address handles, all allocations fail from a certain one on.  failslab must be
 * enabled with task-filter; file descriptor 3 is its file "space".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <infiniband/verbs.h>

#include "rc.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NTH_MAX		100000

static const char *dev, *netdev, *file, *module;
static int nth_fd, sock, home;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "nth: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void nth_set(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("fail-nth");
}

static int nth_left(void)
{
	char text[16] = {};

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth");
	return atoi(text);
}

/* ---- netlink ---- */

struct request {
	struct nlmsghdr	hdr;
	char		attrs[256];
};

static void request_begin(struct request *r, int type)
{
	memset(r, 0, sizeof(*r));
	r->hdr.nlmsg_len = sizeof(r->hdr);
	r->hdr.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, type);
	r->hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
}

static void request_add(struct request *r, int type, const void *data, int len)
{
	struct nlattr *attr = (void *)((char *)r + r->hdr.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(attr + 1, data, len);
	r->hdr.nlmsg_len += NLA_ALIGN(attr->nla_len);
}

/* Reads the response; the handler of the request has run when send() returns. */
static int request_end(struct request *r)
{
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		char rest[512];
	} answer;

	if (send(sock, r, r->hdr.nlmsg_len, 0) < 0)
		return errno;
	if (recv(sock, &answer, sizeof(answer), MSG_DONTWAIT) <= 0)
		return ENOBUFS;	/* the kernel had no memory for a response */
	return answer.hdr.nlmsg_type == NLMSG_ERROR ? -answer.err.error : 0;
}

static int link_index(void)
{
	FILE *f = popen("rdma dev show", "r");
	char text[32] = {};
	int index = -1;

	while (f && fscanf(f, " %d: %31[^:]:%*[^\n]", &index, text) == 2)
		if (!strcmp(text, dev))
			break;
	if (f)
		pclose(f);
	return strcmp(text, dev) ? -1 : index;
}

static int link_add(void)
{
	struct request r;

	request_begin(&r, RDMA_NLDEV_CMD_NEWLINK);
	request_add(&r, RDMA_NLDEV_ATTR_DEV_NAME, dev, strlen(dev) + 1);
	request_add(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "srnic", 6);
	request_add(&r, RDMA_NLDEV_ATTR_NDEV_NAME, netdev, strlen(netdev) + 1);
	return request_end(&r);
}

static int del_index;

static int link_del(void)
{
	__u32 index = del_index;
	struct request r;

	request_begin(&r, RDMA_NLDEV_CMD_DELLINK);
	request_add(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	return request_end(&r);
}

/* ---- modules, namespaces ---- */

static int module_load(void)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err;
}

static int module_unload(void)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

static int netns_new(void)
{
	return unshare(CLONE_NEWNET) ? errno : 0;
}

static int netns_leave(void)
{
	return setns(home, CLONE_NEWNET) ? errno : 0;
}

/* ---- queries ---- */

static bool link_there(void)
{
	del_index = link_index();
	return del_index >= 0;
}

static bool module_there(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return !access(path, F_OK);
}

static bool netns_there(void)
{
	return false;
}

/**
 * struct thing - an object under test
 * @make: creates it; returns 0 or an errno
 * @undo: destroys it; returns 0 or an errno
 * @there: does it exist?  A failed call must not change the answer
 */
static const struct thing {
	const char *name;
	int (*make)(void);
	int (*undo)(void);
	bool (*there)(void);
} things[] = {
	{ "link",	link_add,	link_del,	link_there },
	{ "module",	module_load,	module_unload,	module_there },
	{ "netns",	netns_new,	netns_leave,	netns_there },
};

static int failures;

/* Executes @call with the @nth allocation failing; returns true if none failed. */
static bool survive(int (*call)(void), const struct thing *t, bool makes, int nth)
{
	bool hit;
	int err;

	nth_set(nth);
	err = call();
	hit = !nth_left();
	nth_set(0);
	if (!err)
		return !hit;

	failures++;
	if (err != ENOMEM && err != ENOBUFS && call != netns_new) {
		fprintf(stderr, "nth: %s %s, allocation %d%s: %s\n", t->name,
			makes ? "make" : "undo", nth, hit ? "" : " (not reached)",
			strerror(err));
		exit(1);
	}
	/* if only the response failed, the request has succeeded */
	if (t->make != netns_new && t->there() == makes)
		return false;
	err = call();
	if (err) {
		fprintf(stderr, "nth: %s %s again, after allocation %d: %s\n",
			t->name, makes ? "make" : "undo", nth, strerror(err));
		exit(1);
	}
	return false;
}

static void hunt(const struct thing *t, bool makes, int step)
{
	int n = 1, calls = 0;
	bool over;

	failures = 0;
	do {
		if (!makes && t->make())
			die("make");
		if (!makes)
			t->there();
		over = survive(makes ? t->make : t->undo, t, makes, n);
		if (makes)
			t->there();
		if (makes && t->undo())
			die("undo");
		calls++;
		n += 1 + (step > 1 ? random() % (2 * step - 1) : 0);
	} while (!over && n < NTH_MAX);
	printf("%s %s: %d calls, %d failed\n", t->name, makes ? "make" : "undo",
	       calls, failures);
}

/* ---- address handles ---- */

#define HANDLES		63	/* the next one needs a new xarray node */
#define SPACE_FD	3

static void write_text(int fd, const char *text)
{
	int len = strlen(text);

	if (write(fd, text, len) != len)
		die("a file of fault injection");
}

/* Creates the last handle while all allocations fail after @bytes. */
static void handle_with(struct ibv_pd *pd, struct ibv_ah_attr *attr, int faults, int bytes)
{
	struct ibv_ah *ah[HANDLES + 1];
	char text[16];
	int i, err;

	for (i = 0; i < HANDLES; i++) {
		ah[i] = ibv_create_ah(pd, attr);
		if (!ah[i])
			die("create_ah");
	}
	snprintf(text, sizeof(text), "%d", bytes);
	write_text(SPACE_FD, text);
	write_text(faults, "1");
	ah[i] = ibv_create_ah(pd, attr);
	err = errno;
	write_text(faults, "0");
	if (ah[i])
		i++;
	else if (err != ENOMEM && err != ENOBUFS)
		die("create_ah without memory");
	else
		failures++;
	while (i--)
		ibv_destroy_ah(ah[i]);
}

static int handles(const char *name)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .grh.hop_limit = 64 };
	int faults = open("/proc/thread-self/make-it-fail", O_WRONLY | O_CLOEXEC);
	struct ibv_context *ctx = rc_open(name);
	int bytes;

	if (!ctx || faults < 0 || ibv_query_gid(ctx, 1, 0, &attr.grh.dgid))
		die(name);
	for (bytes = 1; bytes < 8192; bytes += 64) {
		struct ibv_pd *pd = ibv_alloc_pd(ctx);

		handle_with(pd, &attr, faults, bytes);
		if (ibv_dealloc_pd(pd))
			die("dealloc_pd");
	}
	printf("%d failed\n", failures);
	return !failures;
}

int main(int argc, char **argv)
{
	int opt, step = 1;
	size_t i;

	while ((opt = getopt(argc, argv, "s:S:")) != -1) {
		if (opt == 's')
			step = atoi(optarg);
		else
			srandom(strtoul(optarg, NULL, 10));
	}
	argv += optind;
	if (argc - optind == 2 && !strcmp(argv[0], "handles"))
		return handles(argv[1]);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die("fail-nth");
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!argv[0])
		return 2;
	if (argv[1]) {
		dev = argv[1];
		file = argv[1];
		netdev = argv[2];
		module = argv[2];
	}
	for (i = 0; i < ARRAY_SIZE(things); i++) {
		if (strcmp(things[i].name, argv[0]))
			continue;
		hunt(&things[i], true, step);
		hunt(&things[i], false, step);
		return 0;
	}
	return 2;
}
