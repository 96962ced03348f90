#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - run them on this kernel, like the kernel's run_kselftest.sh
# usage: run_kselftest.sh [-l] [-c COLLECTION]... [-t COLLECTION:TEST]...
#
# Without -c and -t all tests run; -l lists them.  The results are printed as TAP.

cd "$(dirname "$(readlink -f "$0")")" || exit
. lib/ktap.sh

usage()
{
	sed -n '4,6s/^# \{0,1\}//p' run_kselftest.sh
	exit "$1"
}

# all: "COLLECTION:TEST" of each
all()
{
	cat kselftest-list.txt 2>/dev/null || make -s emit_tests
}

# seconds COLLECTION: time limit of each of its tests, by default that of kselftest
seconds()
{
	sed -n 's/^timeout=//p' "$1/settings" 2>/dev/null | grep . || echo 45
}

# run COLLECTION TEST
run()
{
	local limit status what="selftests: $1: $2"

	limit=$(seconds "$1")
	diag "timeout set to $limit" "$what"
	(cd "$1" && exec timeout -k 5 "$limit" "./$2") </dev/null 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	case $status in
	0) ktap_point ok "$what" ;;
	"$KSFT_SKIP") ktap_point ok "$what # SKIP" ;;
	124) ktap_point "not ok" "$what # TIMEOUT $limit seconds" ;;
	*) ktap_point "not ok" "$what # exit=$status" ;;
	esac
}

wanted=() list=''
while getopts c:hlt: option; do
	case $option in
	c) wanted+=("$OPTARG:*") ;;
	l) list=1 ;;
	t) wanted+=("$OPTARG") ;;
	h) usage 0 ;;
	*) usage 1 >&2 ;;
	esac
done
mapfile -t tests < <(all | while read -r test; do
	for pattern in "${wanted[@]-*}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $test != $pattern ]] || echo "$test"
	done
done)
((${#tests[@]})) || { echo "no such test" >&2; exit 1; }
[ -z "$list" ] || { printf '%s\n' "${tests[@]}"; exit; }

ktap_plan ${#tests[@]}
for test in "${tests[@]}"; do
	run "${test%%:*}" "${test#*:}"
done
ktap_end
