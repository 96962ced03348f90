#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Queue pairs on different processors share no cache line that is written for each message:
# a plugin of QEMU counts the loads and stores of eight emulated processors.
# usage: lines.sh [DIR], which keeps the results in DIR for shared.py -l
# shellcheck disable=SC2154 # ktap.sh sets it

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"

processors=8
messages=200

guest()
{
	"$selftests/../tools/lab/run" --kernel debian --cpus "$processors" --icount \
		--plugin "$results/lines.so,report=$results/lines" --results "$results" \
		--timeout 1500 -- \
		selftests/cores/lines-guest "$results/pairs" "$messages" 2>&1
}

need qemu-system-x86_64 gcc make python3
results=$(realpath -m "${1:-$(mktemp -d)}")
[ $# -gt 0 ] || trap '((ktap_failed)) || rm -r "$results"' EXIT
mkdir -p "$results"
rm -f "$results"/lines.*

check "the programs compile"	make -C "$selftests/cores" OUT="$results"
[ -x "$results/pairs" ] || ktap_end
mapfile -t kinds < <("$results/pairs" -l)
ktap_relay guest
ktap_relay "$selftests/cores/shared.py" "$results" "$processors" "$messages" \
	"${kinds[@]#lines: }"
((ktap_failed == 0)) || diag "all results: $results"
ktap_end
