#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic on x86-64 and srnic on arm64 interoperate: two machines connected by a wire of MTU
# 1500, each as the client of the other.  They run arch-guest.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"

need qemu-system-x86_64 qemu-system-aarch64
work=$(mktemp -d)
first=
trap 'pkill -s "${first:-none}"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# machine NUMBER KERNEL
machine()
{
	"$selftests/../tools/lab/run" --kernel "$2" --timeout 1500 --results "$work/$1" \
		--wire "$work/wire$1,$work/wire$((3 - $1))" -- \
		selftests/machines/arch-guest "$1" 2>"$work/said$1"
}

# kernels: before either machine waits for the other
kernels()
{
	"$selftests/../tools/lab/prepare" debian debian-arm64
}

ktap_plan 28
check "both kernels are available"	kernels
export -f machine
export selftests work
setsid bash -c 'machine 1 debian' >"$work/tap" &	# all of it can be ended
first=$!
ktap_relay machine 2 debian-arm64
check "the other machine succeeded"	wait "$first"
ktap_relay cat "$work/tap"
ktap_end
