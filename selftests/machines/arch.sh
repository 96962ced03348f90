#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic on x86-64 and srnic on arm64 understand each other: two machines, a wire of 1500
# bytes, and each is the client of the other.  What they run is in arch-guest.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"

need qemu-system-x86_64 qemu-system-aarch64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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

ktap_plan 27
check "both kernels are there"	kernels
machine 1 debian >"$work/tap" &
ktap_relay machine 2 debian-arm64
wait
ktap_relay cat "$work/tap"
ktap_end
