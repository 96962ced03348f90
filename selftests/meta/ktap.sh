#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a check that fails because of a hang says so, and no other check does
# usage: selftests/meta/ktap.sh

HERE=$(dirname "$(readlink -f "$0")")
LIB=$HERE/../lib
. "$LIB/ktap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tap_of SCRIPT: the TAP of a script.  Only one that hangs has a bound of a second: no machine is
# too slow for the others.
tap_of()
{
	local bound=300

	[[ $1 != *@(wait_for false|sleep 90|$work/)* ]] || bound=1
	KTAP_BOUND=$bound LIB=$LIB bash -c ". \"\$LIB/ktap.sh\"; $1; ktap_end"
}

# prints EXPECTED SCRIPT: its failed checks, named by number, and its late ones
prints()
{
	local said

	said=$(tap_of "$2" | sed -n 's/^not ok \([0-9]*\).*/failed \1/p; s/^# late: /late: /p' |
		paste -sd, -)
	[ "$said" = "$1" ] || { echo "$said"; return 1; }
}

# gone COMMAND-LINE: no process has it
gone()
{
	! pgrep -fx "$1"
}

# group_ends NUMBER: no process of the program in $work/group is left; the sleeps of this test
# are told apart by their length
group_ends()
{
	prints "failed 1,late: bash $work/group" "check a bounded bash $work/group" &&
		wait_freed gone "sleep $1"
}

# group_put NUMBER: two processes that ignore SIGTERM
group_put()
{
	cat >"$work/group" <<-END
		trap '' TERM
		sleep $1 &
		wait
	END
}

# child_put NUMBER: two processes, of which only the child ignores SIGTERM
child_put()
{
	cat >"$work/group" <<-END
		(trap '' TERM; exec sleep $1) &
		wait
	END
}

# passed_on: standard input, functions and exit status are passed on
passed_on()
{
	local status=0 text

	copy() { cat; }
	export -f copy
	text=$(echo text | bounded bash -c copy) && [ "$text" = text ] || return
	bounded sh -c 'exit 7' || status=$?
	((status == 7))
}

# ends_with_it NUMBER COMMAND...: a signal for bounded ends the program that COMMAND runs
ends_with_it()
{
	bounded "${@:2}" sleep "$1" &
	wait_for pgrep -fx "sleep $1" && kill "$!" && fails wait "$!" &&
		wait_for gone "sleep $1"
}

# in_place: comments of a program stay between its checks
in_place()
{
	local want='not ok 1 a|# late: x|ok 2 b|not ok 3 c|# why'

	[ "$(tap_of "ktap_relay printf '$want|1..3\n' | tr '|' '\n'" |
		grep -v -e '^TAP' -e made -e '^1\.\.' | paste -sd'|' -)" = "$want" ]
}

c_program()
{
	cat >"$work/late.c" <<-'END'
		#include "tap.h"
		int main(void)
		{
			tap_late("a wait of %u", tap_bound());
			tap_check(true, "in time");
			tap_check(false, "wrong");
			tap_late("a wait of %u", tap_bound());
			tap_check(false, "late");
			return tap_end();
		}
	END
	gcc -Wall -Werror -I "$LIB" -o "$work/late" "$work/late.c"
}

python_program()
{
	cat >"$work/late.py" <<-'END'
		from tap import Tap, tap_bound, tap_late
		tap = Tap()
		tap_late(f"a wait of {tap_bound():.0f}")
		tap.check("in time", True)
		tap.check("wrong", False, "late: no wait")
		tap_late(f"a wait of {tap_bound():.0f}")
		tap.check("late", False)
		tap.end()
	END
}

# EXPECTED|SCRIPT|what it is
cases=(
	"|check a wait_for true|a state that is there"
	"failed 1,late: wait_for false|check a wait_for false|a state that never comes"
	"failed 1|check a false|a wrong result"
	"failed 1,late: sleep 901|check a bounded sleep 901|a program that hangs"
	"|check a bounded true|one that does not"
	"failed 1|check a bounded sh -c \"exit 124\"|one that returns 124 by itself"
	"failed 1|check a bounded sh -c \"kill -9 \\\$\\\$\"|one that is killed by another"
	"failed 1|check a env SECONDS=400 bounded sh -c \"exit 124\"|one that does so late by the clock"
	"failed 1|check a env SECONDS=400 bounded sh -c \"kill -9 \\\$\\\$\"|one that is killed then"
	"failed 1|f() { bounded sleep 907 & wait_for pgrep -fx \"sleep 907\"; kill \$!; wait \$!; }; check a f|one that is ended with it"
	"failed 1,late: wait_for false|check a fails wait_for false|a program that is to fail, but hangs"
	"failed 1,late: wait_for false|ktap_first a fails wait_for false; check b true|one before the plan"
	"failed 1,late: wait_for false,failed 2|check a wait_for false; check b false|a result behind a check that was late"
	"failed 2,late: sleep 902|f() { touch $work/go; ! wait \$!; }; g() { { KTAP_BOUND=300 wait_for test -e $work/go; bounded sleep 902; } & }; check a g; check b fails f|a program in the background"
	"failed 1,late: x|f() { echo not ok 1; echo \\# late: x; false; }; check a f|a program that prints TAP"
	"failed 1|f() { wait_for false; sh -c \"kill -9 \\\$\\\$\"; }; check a f|a crash behind a wait that was late"
	"failed 1|f() { wait_for false; sh -c \"kill -9 \\\$\\\$\"; }; ktap_relay f|one of a relayed program"
	"failed 1|f() { echo late: x; false; }; check a f|a program whose output reads like that"
	"failed 1|f() { echo not ok 1 a; echo late: x; echo 1..1; return 1; }; ktap_relay f|a relayed one"
	"failed 1|f() { echo not ok 1; echo \\# late: x; echo not ok 2; false; }; check a f|one with another failure"
	"failed 1,late: sleep 903|ktap_relay bounded sleep 903|a relayed program that hangs"
	"failed 2,failed 3,late: a wait of 1|ktap_relay $work/late|a program in C"
	"failed 2,failed 3,late: a wait of 1|PYTHONPATH=\$LIB ktap_relay python3 $work/late.py|a program in Python"
)

need gcc python3 pgrep
c_program
python_program

ktap_plan $((${#cases[@]} + 6))
while IFS='|' read -r expected script what; do
	check "$what" prints "$expected" "$script"
done < <(printf '%s\n' "${cases[@]}")
group_put 904
check "a program that ignores SIGTERM"		group_ends 904
child_put 906
check "one whose child ignores it"		group_ends 906
check "input, functions and status are passed on"	passed_on
check "a program ends with the one that bounds it"	ends_with_it 905
check "so does one of rdma_cm that ignores SIGTERM"	ends_with_it 908 cm_program env --ignore-signal=TERM
check "comments stay behind their checks"	in_place
ktap_end
