/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic bench - functions shared by the programs of the benchmark
 */
#ifndef SRNIC_BENCH_H
#define SRNIC_BENCH_H

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Time in seconds */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec + t.tv_nsec / 1e9;
}

/* For qsort() of doubles */
static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline void *buffer(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");

	return p;
}

/* Moves the calling thread to a network namespace of /run/netns. */
static inline void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(netns);
	close(fd);
}

static inline struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (; list && *list && !ctx; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			ctx = ibv_open_device(*list);
	if (!ctx)
		die(name);

	return ctx;
}

#endif /* SRNIC_BENCH_H */
