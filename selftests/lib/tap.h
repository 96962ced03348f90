/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - TAP for programs in C
 *
 * tap_point() is one line of TAP, tap_check() the same for what needs no more than a
 * name.  tap_fault() says why the check that comes next fails, at most a few times,
 * and remembers it; so a check over a whole table is a loop of tap_fault() and one
 * tap_done().  The numbers belong to the file that includes this: one of a program.
 */
#ifndef SRNIC_TAP_H
#define SRNIC_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define TAP_FAULTS_SHOWN	5

/* The exit status of a test, as kselftest.h has them */
#define KSFT_PASS	0
#define KSFT_FAIL	1

static unsigned int tap_number;
static unsigned int tap_failed;
static unsigned int tap_faults;
static bool tap_is_planned;

/*
 * A check.  With a @directive and its reason it was not made ("SKIP"), or is known to
 * fail ("TODO"), which is not counted as a failure; NULL: without.
 */
static inline void tap_point(bool passed, const char *directive, const char *why,
			     const char *fmt, ...)
{
	va_list ap;

	printf("%s %u ", passed ? "ok" : "not ok", ++tap_number);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	if (directive)
		printf(" # %s %s", directive, why);
	printf("\n");
	fflush(stdout);	/* or it is lost when the next check ends the test */
	tap_failed += !passed && !directive;
}

static inline void tap_check(bool passed, const char *what)
{
	tap_point(passed, NULL, NULL, "%s", what);
}

#define tap_remark(...)						\
	do {							\
		printf("# ");					\
		printf(__VA_ARGS__);				\
		printf("\n");					\
		fflush(stdout);					\
	} while (0)

#define tap_fault(...)						\
	do {							\
		if (tap_faults++ < TAP_FAULTS_SHOWN)		\
			tap_remark(__VA_ARGS__);		\
	} while (0)

static inline void tap_done(const char *what)
{
	if (tap_faults > TAP_FAULTS_SHOWN)
		tap_remark("%u faults in all", tap_faults);
	tap_check(!tap_faults, what);
	tap_faults = 0;
}

static inline void tap_plan(unsigned int checks)
{
	tap_is_planned = true;
	printf("1..%u\n", checks);
}

/* The plan, unless there was one ahead, and the exit status of the test */
static inline int tap_end(void)
{
	if (!tap_is_planned)
		tap_plan(tap_number);

	return tap_failed ? KSFT_FAIL : KSFT_PASS;
}

#endif /* SRNIC_TAP_H */
