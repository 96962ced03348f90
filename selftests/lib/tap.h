/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - TAP for programs in C
 *
 * tap_point() prints the result of a check, tap_check() that of one with a constant
 * name.  tap_fault() prints why the next check fails, at most TAP_FAULTS_SHOWN times,
 * and tap_done() ends that check; so a check of a whole table is a loop of tap_fault()
 * and one tap_done().  tap_late() says what did not happen within tap_bound(), a time that
 * only a hang reaches; it is printed if the next check fails, see ktap.sh.  The counters
 * are static: include this in one file of a program.
 */
#ifndef SRNIC_TAP_H
#define SRNIC_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TAP_FAULTS_SHOWN	5

/* Exit status of a test, as in kselftest.h */
#define KSFT_PASS	0
#define KSFT_FAIL	1

static unsigned int tap_number;
static unsigned int tap_failed;
static unsigned int tap_faults;
static bool tap_is_planned;
static char tap_late_what[256];
static bool tap_was_late;

/* In seconds; less after a check that was late, see ktap.sh */
static inline unsigned int tap_bound(void)
{
	const char *text = getenv("KTAP_BOUND");
	unsigned int bound = text && atoi(text) > 0 ? atoi(text) : 300;

	return tap_was_late ? bound / 10 + 1 : bound;
}

static inline void tap_late(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(tap_late_what, sizeof(tap_late_what), fmt, ap);
	va_end(ap);
}

/*
 * @directive: "SKIP" if the check was not made, "TODO" if its failure is known and is
 * not to be counted, or NULL; @why is the reason for it
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
	if (!passed && *tap_late_what) {
		printf("# late: %s\n", tap_late_what);
		tap_was_late = true;
	}
	*tap_late_what = '\0';
	fflush(stdout);	/* it would be lost if the next check crashed */
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

/* Prints the plan unless tap_plan() has; returns the exit status of the test. */
static inline int tap_end(void)
{
	if (!tap_is_planned)
		tap_plan(tap_number);

	return tap_failed ? KSFT_FAIL : KSFT_PASS;
}

#endif /* SRNIC_TAP_H */
