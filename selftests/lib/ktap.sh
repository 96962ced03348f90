# SPDX-License-Identifier: GPL-2.0
# srnic selftests - say in TAP what was proved
#
#   ktap_plan N              so many checks follow
#   check WHAT COMMAND...    one check: it passes when COMMAND succeeds
#   skip WHAT WHY            a check that cannot be made here
#   skip_all WHY             a script that cannot be run here
#   diag TEXT...             a remark
#   ktap_relay COMMAND...    a program that speaks TAP: its checks are ours
#   need TOOL...             skip_all where a tool is missing
#   wait_for SECONDS COMMAND...  until COMMAND succeeds
#   known KEY COMMAND...     COMMAND, but not if it succeeded with that KEY before,
#                            which stands for all that it depends on
#   ktap_end                 the closing checks, and the exit status
#
# A file that sources this one may add closing checks by ktap_closing+=(NAME):
# functions named after that are run last, each as one more check.
# shellcheck shell=bash

ktap_number=0
ktap_planned=0
ktap_failed=0
ktap_closing=()
ktap_log=$(mktemp)

echo "TAP version 13"

diag()
{
	printf '# %s\n' "$@"
}

ktap_plan()
{
	ktap_planned=$(($1 + ${#ktap_closing[@]}))
	echo "1..$ktap_planned"
}

check()
{
	local status=0 what=$1

	shift
	"$@" >"$ktap_log" 2>&1 || status=$?
	ktap_number=$((ktap_number + 1))
	if ((status == 0)); then
		echo "ok $ktap_number $what"
		return
	fi
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_number $what"
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
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 4
}

# Its numbers become ours, and a failure that is known (TODO) is none.  One that fails without a check of its own that did has
# failed, too.
ktap_relay()
{
	local line rest

	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			ktap_number=$((ktap_number + 1))
			rest=${line#*ok * }
			[[ $line == ok* || $line == *"# TODO "* ]] ||
				ktap_failed=$((ktap_failed + 1))
			echo "${line%%ok*}ok $ktap_number $rest"
			;;
		"#"*) echo "$line" ;;
		1..*) ;;
		"$ktap_log "*)
			ktap_failed=$((ktap_failed + 1))
			echo "# ${1##*/} returned ${line#* }"
			;;
		*) echo "# $line" ;;
		esac
	done < <("$@" 2>&1 || echo "$ktap_log $?")
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
	((ktap_number == ktap_planned)) || diag "$ktap_planned checks were planned"
	((ktap_failed == 0 && ktap_number == ktap_planned))
	exit
}
