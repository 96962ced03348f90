# SPDX-License-Identifier: GPL-2.0
# srnic selftests - print TAP, and read the TAP of other programs
#
#   ktap_plan N              N checks follow; without it ktap_end prints the plan
#   check WHAT COMMAND...    one check: it passes if COMMAND succeeds
#   ktap_first WHAT COMMAND...  before the plan: if COMMAND fails, that is the only check
#   fails COMMAND...         succeeds if COMMAND fails
#   skip WHAT WHY            a check that cannot be made here
#   skip_all WHY             exits: nothing in this script can be checked here
#   diag TEXT...             a comment
#   ktap_point ok|"not ok" WHAT  the result of a check that was made elsewhere
#   ktap_relay [-p PREFIX] COMMAND...  runs a program that prints TAP and adopts its
#                            checks, with PREFIX in front of their names
#   need TOOL...             skip_all if a tool is not installed
#   wait_for COMMAND...      waits until COMMAND succeeds
#   wait_freed COMMAND...    like wait_for, but a failure is a leak rather than a hang
#   asleep PID               all threads of that process sleep
#   ended PID                there is no such process
#   bounded COMMAND...       a program that may hang; "on NS bounded COMMAND..." in a host
#   known KEY COMMAND...     COMMAND, unless it succeeded with that KEY before; KEY
#                            identifies everything that the result depends on
#   ktap_end                 the closing checks, and the exit status
#
#   ktap_line LINE           parses one line of TAP
#   ktap_late_only           every failed check in standard input, if any, was late
#   ktap_count               counts the checks in standard input
#   ktap_failures            prints the failed checks, their comments and what is not TAP
#   ktap_skips               prints what was skipped, and why
#
# wait_for and bounded give up after KTAP_BOUND seconds, which only a hang reaches.  A check
# has failed then, and was late, unless its program crashed: among the comments that follow
# it is "# late: COMMAND".
#
# A file that sources this one may add closing checks by ktap_closing+=(NAME): ktap_end
# runs the functions of these names, each as one more check.
# shellcheck shell=bash

export LC_ALL=C	# fractions have a point, and names one order
KSFT_SKIP=4

ktap_number=0
ktap_planned=
ktap_failed=0
ktap_closing=()
ktap_log=
ktap_begun=

export KTAP_BOUND=${KTAP_BOUND:-300}
ktap_bound_first=$KTAP_BOUND
ktap_bound_later=$((KTAP_BOUND / 10 + 1))
export KTAP_LATE=	# file: what reached the bound during this check
ktap_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:$ktap_lib	# bounded

# --- output ----------------------------------------------------------------

# ktap_say LINE...: prints the version first if nothing has been printed yet
ktap_say()
{
	[ -n "$ktap_begun" ] || echo "TAP version 13"
	ktap_begun=1
	printf '%s\n' "$@"
}

diag()
{
	ktap_say "${@/#/# }"
}

ktap_plan()
{
	ktap_planned=$(($1 + ${#ktap_closing[@]}))
	ktap_say "1..$ktap_planned"
}

fails()
{
	! "$@"
}

# A known failure (TODO) does not count as one.
ktap_point()
{
	ktap_number=$((ktap_number + 1))
	[[ $1 == ok || $2 == *"# TODO "* ]] || ktap_failed=$((ktap_failed + 1))
	ktap_say "$1 $ktap_number $2"
}

# ktap_watch: start to record which commands reach the bound
ktap_watch()
{
	ktap_log=${ktap_log:-$(mktemp)}
	KTAP_LATE=$ktap_log.late
	: >"$KTAP_LATE"
}

# ktap_late WHAT...: record that this did not happen within the bound
ktap_late()
{
	[ ! -f "$KTAP_LATE" ] || echo "${*//$'\n'/ }" >>"$KTAP_LATE"
}

# ktap_say_late STATUS: print "# late:" for the check that has just failed, unless by a crash.
# The bound of the checks that follow is reduced, but not that of wait_freed: a hang that affects
# all of them must not exceed the time limit of the script.
ktap_say_late()
{
	[ -s "$KTAP_LATE" ] && (($1 < 128)) || return 0
	sed 's/^/# late: /' "$KTAP_LATE"
	KTAP_BOUND=$ktap_bound_later
}

# ktap_fail WHAT STATUS COMMAND...: that check has failed; its output is in $ktap_log
ktap_fail()
{
	ktap_point "not ok" "$1"
	diag "'${*:3}' returned $2"
	sed -n 's/^# late: //p' "$ktap_log" >>"$KTAP_LATE"
	! ktap_late_only <"$ktap_log" || ktap_say_late "$2"
	tail -n 30 "$ktap_log" | sed 's/^/#   /'
}

# ktap_passes COMMAND...: it succeeds, and nothing in it has reached the bound; sets ktap_status
ktap_passes()
{
	ktap_status=0
	ktap_watch
	"$@" >"$ktap_log" 2>&1 || ktap_status=$?
	((ktap_status == 0)) && [ ! -s "$KTAP_LATE" ]
}

check()
{
	if ktap_passes "${@:2}"; then
		ktap_point ok "$1"
	else
		ktap_fail "$1" "$ktap_status" "${@:2}"
	fi
}

ktap_first()
{
	! ktap_passes "${@:2}" || return 0
	ktap_plan 1
	ktap_fail "$1" "$ktap_status" "${@:2}"
	ktap_end
}

known()
{
	local mark=${SRNIC_CACHE:-$HOME/.cache/srnic}/known/$1

	[ ! -e "$mark" ] || return 0
	shift
	"$@" || return
	mkdir -p "${mark%/*}"
	touch "$mark"
}

skip()
{
	ktap_point ok "$1 # SKIP $2"
}

skip_all()
{
	ktap_say "1..0 # SKIP $*"
	exit "$KSFT_SKIP"
}

need()
{
	local tool

	for tool; do
		command -v "$tool" >/dev/null || skip_all "$tool is not installed"
	done
}

# wait_for COMMAND...: repeat it until it succeeds.  It is tried once more after the deadline,
# since the guest may not have been scheduled before.
wait_for()
{
	local end=$((SECONDS + KTAP_BOUND)) late

	while late=$((SECONDS >= end)); do
		"$@" && return
		((late == 0)) || break
		sleep 0.02
	done
	ktap_late "wait_for $*"
	return 1
}

wait_freed()
{
	local KTAP_BOUND=$ktap_bound_first KTAP_LATE=

	wait_for "$@"
}

asleep()
{
	cat /proc/"$1"/task/*/status | awk '/^State:/ { n++; up += $2 != "S" }
		END { exit !n || up }'
} 2>/dev/null

ended()
{
	! kill -0 "$1" 2>/dev/null
}

ktap_end()
{
	local closing

	for closing in "${ktap_closing[@]}"; do
		check "${closing//_/ }" "$closing"
	done
	rm -f "$ktap_log" "$KTAP_LATE"
	[ -n "$ktap_planned" ] || ktap_plan $((ktap_number - ${#ktap_closing[@]}))
	((ktap_number == ktap_planned)) || diag "$ktap_planned checks were planned"
	((ktap_failed == 0 && ktap_number > 0 && ktap_number == ktap_planned))
	exit
}

# --- input -----------------------------------------------------------------

# ktap_line LINE: sets ktap_kind to passed, failed, skipped, known (a known failure),
# plan, none (a plan without checks), remark, version or other; ktap_word to "ok" or
# "not ok"; ktap_text to what follows the number; ktap_why to the reason for a skip
ktap_line()
{
	ktap_kind=other ktap_word='' ktap_text=$1 ktap_why=
	if [[ $1 =~ ^(ok|not\ ok)\ +([0-9]*)\ *(.*)$ ]]; then
		ktap_word=${BASH_REMATCH[1]} ktap_text=${BASH_REMATCH[3]}
		case $1 in
		"ok "*"# SKIP"*) ktap_kind=skipped ktap_why=${ktap_text#*"# SKIP"} ;;
		"ok "*) ktap_kind=passed ;;
		*"# TODO"*) ktap_kind=known ;;
		*) ktap_kind=failed ;;
		esac
	elif [[ $1 =~ ^1\.\.([0-9]+)\ *(# SKIP(.*))?$ ]]; then
		ktap_kind=plan ktap_text=${BASH_REMATCH[1]} ktap_why=${BASH_REMATCH[3]}
		[ "$ktap_text" != 0 ] || ktap_kind=none
	elif [[ $1 == "#"* ]]; then
		ktap_kind=remark
	elif [[ $1 == "TAP version "* ]]; then
		ktap_kind=version
	fi
	ktap_why=${ktap_why#"${ktap_why%%[! ]*}"}
}

# ktap_count: sets passed, failed, skipped and planned, which is -1 if there is no plan;
# a plan without checks counts as one skipped check
ktap_count()
{
	local line

	passed=0 failed=0 skipped=0 planned=-1
	while IFS= read -r line || [ -n "$line" ]; do
		ktap_line "$line"
		case $ktap_kind in
		passed) passed=$((passed + 1)) ;;
		failed) failed=$((failed + 1)) ;;
		skipped | known) skipped=$((skipped + 1)) ;;
		plan) planned=$ktap_text ;;
		none) planned=1 skipped=1 ;;
		esac
	done
}

ktap_late_only()
{
	awk '/^(not )?ok / { plain += open; open = /^not / && !/# TODO/ }
		/^# late: / { open = 0 }
		END { exit plain + open > 0 }'
}

# ktap_failures: failed checks with the comments that follow them, and other output
ktap_failures()
{
	local line on=''

	while IFS= read -r line || [ -n "$line" ]; do
		ktap_line "$line"
		case $ktap_kind in
		failed | other) on=1 ;;
		remark) ;;
		*) on= ;;
		esac
		[ -z "$on" ] || echo "$line"
	done
}

# ktap_skips: "WHAT (WHY)" for a skipped check, WHY for a whole script
ktap_skips()
{
	local line

	while IFS= read -r line || [ -n "$line" ]; do
		ktap_line "$line"
		case $ktap_kind in
		skipped) echo "${ktap_text%%"# SKIP"*}($ktap_why)" ;;
		none) echo "$ktap_why" ;;
		esac
	done
}

# ktap_relay: a program that crashes, or whose number of checks differs from its plan,
# adds one failed check.
ktap_relay()
{
	local failed=0 line made=0 name='' planned='' prefix='' status=''

	if [ "$1" = -p ]; then
		name=$2 prefix="$2: "
		shift 2
	fi
	name=${name:-${1##*/}}
	ktap_watch
	while IFS= read -r line; do
		ktap_line "$line"
		case $ktap_kind in
		passed | skipped | failed | known)
			made=$((made + 1))
			[ "$ktap_kind" != failed ] || failed=1
			ktap_point "$ktap_word" "$prefix$ktap_text"
			;;
		plan) planned=$ktap_text ;;
		none)
			planned=0
			skip "$name" "$ktap_why"
			;;
		remark) ktap_say "$line" ;;
		version) ;;
		*)
			if [[ $line == "ktap_relay $$ "* ]]; then
				status=${line##* }
			else
				diag "  $line"
			fi
			;;
		esac
	done < <("$@" 2>&1; echo "ktap_relay $$ $?")

	# a script with a plan of its own notices missing checks by itself
	[ -z "$ktap_planned" ] || planned=${planned:-$made}
	case $status:$failed in
	0:0 | 1:1 | "$KSFT_SKIP":0) [ "$planned" != "$made" ] || return 0 ;;
	esac
	ktap_point "not ok" "$name: made $made of ${planned:-?} checks, returned $status"
	ktap_say_late "$status"
}
