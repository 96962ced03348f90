#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the unit tests on a big-endian processor, which is emulated
# usage: selftests/unit/big_endian.sh
#
# Without ASan, which does not run under this emulation; undefined behaviour traps.

cd "$(dirname "$(readlink -f "$0")")" || exit
. ../lib/ktap.sh

export CC=s390x-linux-gnu-gcc AR=s390x-linux-gnu-ar
export SANITIZE='-fsanitize=undefined -fsanitize-undefined-trap-on-error'
export SEEDS=30	# runs of the simulator: enough to find errors of byte order
export EMULATOR='qemu-s390x -L /usr/s390x-linux-gnu'

need "$CC" "${EMULATOR%% *}"
exec ./run.sh
