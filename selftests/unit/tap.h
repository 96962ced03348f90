/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - TAP for tests in C
 *
 * tap_check() is one line of TAP.  tap_fault() says why the check that comes
 * next fails, at most a few times, and remembers it; so a check over a whole
 * table is a loop of tap_fault() and one tap_done().
 */
#ifndef SRNIC_UNIT_TAP_H
#define SRNIC_UNIT_TAP_H

#include <stdbool.h>
#include <stdio.h>

#define TAP_FAULTS_SHOWN	5

static unsigned int tap_number;
static unsigned int tap_failed;
static unsigned int tap_faults;

static inline void tap_check(bool passed, const char *what)
{
	printf("%s %u %s\n", passed ? "ok" : "not ok", ++tap_number, what);
	fflush(stdout);	/* or it is lost when the next check ends the test */
	tap_failed += !passed;
}

#define tap_fault(...)						\
	do {							\
		if (tap_faults++ < TAP_FAULTS_SHOWN) {		\
			printf("# ");				\
			printf(__VA_ARGS__);			\
			printf("\n");				\
		}						\
	} while (0)

static inline void tap_done(const char *what)
{
	if (tap_faults > TAP_FAULTS_SHOWN)
		printf("# %u faults in all\n", tap_faults);
	tap_check(!tap_faults, what);
	tap_faults = 0;
}

/* The plan, and the exit status of the test */
static inline int tap_end(void)
{
	printf("1..%u\n", tap_number);

	return tap_failed != 0;
}

#endif /* SRNIC_UNIT_TAP_H */
