#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic on x86-64 and srnic on arm64 interoperate: perftest.sh on two machines with these
# processors, at MTU 1500.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"

need qemu-system-x86_64 qemu-system-aarch64

# machines: with the prepared kernels
machines()
{
	"$selftests/../tools/lab/run" --machines 2 --kernel debian --kernel-b debian-arm64 \
		--timeout 3000 -- env MTU=1500 selftests/machines/perftest.sh 2>&1
}

ktap_relay machines
ktap_end
