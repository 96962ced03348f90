#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the unit tests on a big-endian processor, which is emulated
# usage: selftests/unit/big_endian.sh
#
# Without ASan, which does not run under this emulation; undefined behaviour traps.

cd "$(dirname "$(readlink -f "$0")")" || exit

export CC=s390x-linux-gnu-gcc AR=s390x-linux-gnu-ar
export SANITIZE='-fsanitize=undefined -fsanitize-undefined-trap-on-error'
export EMULATOR='qemu-s390x -L /usr/s390x-linux-gnu'

for tool in "$CC" "${EMULATOR%% *}"; do
	command -v "$tool" >/dev/null && continue
	echo "1..0 # SKIP $tool is not installed"
	exit 4
done
exec ./run.sh
