#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the unit tests in user space, as one stream of TAP
# usage: selftests/unit/run.sh
#
# OUT is the directory to build in, CC the compiler, SANITIZE its sanitizer flags; EMULATOR
# is a command that runs programs for another processor.

set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")" || exit
. ../lib/ktap.sh

CC=${CC:-gcc}
export OUT=${OUT:-$(realpath ../..)/build/unit/$CC}
read -ra EMULATOR <<<"${EMULATOR:-}"

mkdir -p "$OUT"
check "built with $CC"	make -s CC="$CC" all
# shellcheck disable=SC2154 # of ktap.sh
if ((ktap_failed == 0)); then
	for test in test_*.c; do
		test=${test%.c}
		ktap_relay -p "$test" "${EMULATOR[@]}" "$OUT/$test"
	done
	# The distribution's python, which is the one that has its scapy
	ktap_relay -p icrc_scapy /usr/bin/python3 icrc_scapy.py \
		"${EMULATOR[@]}" "$OUT/icrc_cli"
fi
ktap_end
