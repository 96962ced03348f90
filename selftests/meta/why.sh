#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - srnic-doctor has a sentence for each verdict of the driver, and each
# sentence has a test
# usage: selftests/meta/why.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

# driver_verdicts: the names in the driver's table, without "no receive", which is no failure
driver_verdicts()
{
	sed -n '/^const struct srnic_fault srnic_faults/,/^};/p' drivers/srnic/xport/verdict.c |
		grep -oP '\{ "\K[^"]+' | grep -vx 'no receive'
}

# driver_reasons: the names of reasons for refusing memory
driver_reasons()
{
	sed -n '/^static const char \* const failure_memory/,/^};/p' \
		drivers/srnic/xport/qp_state.c | grep -oP '= "\K[^"]+'
}

# doctor_has verdict|memory
doctor_has()
{
	tools/srnic-doctor --list | sed -n "s/^$1 //p"
}

# tested: VERDICT or VERDICT/REASON of each sentence that a test expects
tested()
{
	grep -rhoP '^why \K[^:]+(?=: )' selftests/drill
	tr '\n' ' ' <selftests/verbs/why.c |
		grep -oP '(why_is|page_fault)\([^";]+"\K[^:"]+(?=: )'
	grep -rhoP "why_is '\K[^:]+(?=: )" selftests/netns
}

tested_verdicts()
{
	tested | cut -d/ -f1 | grep -vx none
}

tested_reasons()
{
	tested | grep / | cut -d/ -f2
}

# same COMMAND COMMAND: both print the same words, at least one
same()
{
	[ "$($1 | sort -u | wc -l)" -gt 5 ] && diff <($1 | sort -u) <($2 | sort -u)
}

# unique COMMAND: no word is printed twice
unique()
{
	! "$1" | sort | uniq -d | grep .
}

ktap_plan 5
check "each verdict has a name of its own"	unique driver_verdicts
check "each verdict has its sentence"		same driver_verdicts "doctor_has verdict"
check "each sentence has its test"		same driver_verdicts tested_verdicts
check "each reason has its words"		same driver_reasons "doctor_has memory"
check "each reason has its test"		same driver_reasons tested_reasons
ktap_end
