#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - run them on this kernel, like the kernel's run_kselftest.sh
# usage: run_kselftest.sh [-l] [-c COLLECTION]... [-t COLLECTION:TEST]...
#
# Without -c and -t all tests run; -l lists them.  The results are printed as TAP.

cd "$(dirname "$(readlink -f "$0")")" || exit

KSFT_SKIP=4

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

# seconds COLLECTION: what each of its tests may take, kselftest's default if it says
# nothing
seconds()
{
	sed -n 's/^timeout=//p' "$1/settings" 2>/dev/null | grep . || echo 45
}

# run NUMBER COLLECTION TEST
run()
{
	local limit status what="selftests: $2: $3"

	limit=$(seconds "$2")
	printf '# timeout set to %s\n# %s\n' "$limit" "$what"
	(cd "$2" && exec timeout -k 5 "$limit" "./$3") </dev/null 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	case $status in
	0) echo "ok $1 $what" ;;
	"$KSFT_SKIP") echo "ok $1 $what # SKIP" ;;
	124) echo "not ok $1 $what # TIMEOUT $limit seconds" ;;
	*) echo "not ok $1 $what # exit=$status" ;;
	esac
	((status == 0 || status == KSFT_SKIP))
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

bad=0
printf 'TAP version 13\n1..%d\n' ${#tests[@]}
for number in "${!tests[@]}"; do
	test=${tests[number]}
	run $((number + 1)) "${test%%:*}" "${test#*:}" || bad=1
done
exit $bad
