# SPDX-License-Identifier: GPL-2.0
# srnic selftests - say in TAP what was proved, and read what others say
#
#   ktap_plan N              so many checks follow; ktap_end says how many there were
#                            when nobody did
#   check WHAT COMMAND...    one check: it passes when COMMAND succeeds
#   skip WHAT WHY            a check that cannot be made here
#   skip_all WHY             a script that cannot be run here
#   diag TEXT...             a remark
#   ktap_point ok|"not ok" WHAT  a check that is made elsewhere
#   ktap_relay [-p PREFIX] COMMAND...  a program that speaks TAP: its checks are ours
#   need TOOL...             skip_all where a tool is missing
#   wait_for SECONDS COMMAND...  until COMMAND succeeds
#   known KEY COMMAND...     COMMAND, but not if it succeeded with that KEY before,
#                            which stands for all that it depends on
#   ktap_end                 the closing checks, and the exit status
#
#   ktap_line LINE           what a line of TAP is
#   ktap_count               counts what comes in
#   ktap_failures, ktap_skips  what of it is not well, and what was skipped and why
#
# A file that sources this one may add closing checks by ktap_closing+=(NAME):
# functions named after that are run last, each as one more check.
# shellcheck shell=bash

KSFT_SKIP=4

ktap_number=0
ktap_planned=
ktap_failed=0
ktap_closing=()
ktap_log=
ktap_begun=

# --- to say ----------------------------------------------------------------

# ktap_say LINE...: the first of which is behind the version
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

# A failure that is known (TODO) is none.
ktap_point()
{
	ktap_number=$((ktap_number + 1))
	[[ $1 == ok || $2 == *"# TODO "* ]] || ktap_failed=$((ktap_failed + 1))
	ktap_say "$1 $ktap_number $2"
}

check()
{
	local status=0 what=$1

	shift
	ktap_log=${ktap_log:-$(mktemp)}
	"$@" >"$ktap_log" 2>&1 || status=$?
	if ((status == 0)); then
		ktap_point ok "$what"
		return
	fi
	ktap_point "not ok" "$what"
	diag "'$*' returned $status"
	tail -n 30 "$ktap_log" | sed 's/^/# /'
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

wait_for()
{
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
}

ktap_end()
{
	local closing

	for closing in "${ktap_closing[@]}"; do
		check "${closing//_/ }" "$closing"
	done
	rm -f "$ktap_log"
	[ -n "$ktap_planned" ] || ktap_plan $((ktap_number - ${#ktap_closing[@]}))
	((ktap_number == ktap_planned)) || diag "$ktap_planned checks were planned"
	((ktap_failed == 0 && ktap_number == ktap_planned))
	exit
}

# --- to read ---------------------------------------------------------------

# ktap_line LINE: sets ktap_kind to passed, failed, skipped, known (to fail), plan,
# none (a plan of no checks), remark, version or other; ktap_word to "ok" or "not ok";
# ktap_text to the rest, behind the number; ktap_why to why there is nothing to check
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

# ktap_count: sets passed, failed, skipped, and planned, which is -1 without a plan; a
# plan of no checks is one that is skipped
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

# ktap_failures: what failed, with the remarks behind it, and what is no TAP
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

# ktap_skips: "WHAT (WHY)" of each, or "(WHY)" of all
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

# A program that dies, or makes other than the number of checks that it planned, is one
# more check, which fails.
ktap_relay()
{
	local failed=0 line made=0 name='' planned='' prefix='' status=''

	if [ "$1" = -p ]; then
		name=$2 prefix="$2: "
		shift 2
	fi
	name=${name:-${1##*/}}
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
				diag "$line"
			fi
			;;
		esac
	done < <("$@" 2>&1; echo "ktap_relay $$ $?")

	# who has planned ahead will miss some
	[ -z "$ktap_planned" ] || planned=${planned:-$made}
	case $status:$failed in
	0:0 | 1:1 | "$KSFT_SKIP":0) [ "$planned" != "$made" ] || return 0 ;;
	esac
	ktap_point "not ok" "$name: made $made of ${planned:-?} checks, returned $status"
}
