// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - what a system call and a page fault cost on this machine
 *
 * These two decide how long the guests take; the best of many rounds is
 * printed, for other processes only ever add to it.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	200
#define CALLS	1000
#define PAGES	100

static double us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double call_cost(void)
{
	double begin = us();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (us() - begin) / CALLS;
}

static double fault_cost(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	double begin, cost;
	char *p;

	p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	madvise(p, PAGES * page, MADV_NOHUGEPAGE);
	begin = us();
	for (int i = 0; i < PAGES; i++)
		p[i * page] = 1;
	cost = (us() - begin) / PAGES;
	munmap(p, PAGES * page);
	return cost;
}

static double best_of(double (*cost)(void))
{
	double best = cost();

	for (int i = 1; i < ROUNDS; i++) {
		double c = cost();

		if (c < best)
			best = c;
	}
	return best;
}

int main(void)
{
	printf("a system call takes %.2f us here, a page fault %.2f us\n",
	       best_of(call_cost), best_of(fault_cost));
	return 0;
}
