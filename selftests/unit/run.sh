#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the unit tests in user space, as one stream of TAP
# usage: selftests/unit/run.sh
#
# OUT says where to build, CC with what, SANITIZE what the compiler adds; EMULATOR
# runs the programs where the processor is another.

set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")" || exit

CC=${CC:-gcc}
export OUT=${OUT:-$(realpath ../..)/build/unit/$CC}
read -ra EMULATOR <<<"${EMULATOR:-}"
number=0
failed=0

# point WORD TEXT: one line of our own
point()
{
	number=$((number + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $number $2"
}

# run NAME COMMAND...: its TAP, numbered in our stream, and its death
run()
{
	local line name=$1 planned='' seen=0 status

	shift
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			seen=$((seen + 1))
			[[ $line =~ ^(ok|not ok)\ [0-9]+\ (.*)$ ]] &&
				point "${BASH_REMATCH[1]}" "$name: ${BASH_REMATCH[2]}"
			;;
		'1..0 # SKIP '*)
			planned=0
			point ok "$name # SKIP ${line#*SKIP }"
			;;
		'1..'*) planned=${line#1..} ;;
		status=*) status=${line#status=} ;;
		*) echo "# ${line#'# '}" ;;
		esac
	done < <("$@" 2>&1; echo "status=$?")

	case $status in
	0 | 1 | 4) [ "$planned" != "$seen" ] || return ;;
	esac
	point "not ok" "$name: made $seen of ${planned:-?} checks, returned $status"
}

echo "TAP version 13"
mkdir -p "$OUT"
if make -s CC="$CC" all >"$OUT/build.log" 2>&1; then
	point ok "built with $CC"
	for test in test_*.c; do
		test=${test%.c}
		run "$test" "${EMULATOR[@]}" "$OUT/$test"
	done
	# The distribution's python, which is the one that has its scapy
	run icrc_scapy /usr/bin/python3 icrc_scapy.py \
		"${EMULATOR[@]}" "$OUT/icrc_cli"
else
	point "not ok" "built with $CC"
	sed 's/^/# /' "$OUT/build.log"
fi
echo "1..$number"
((failed == 0))
