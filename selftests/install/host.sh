#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - demo, tests and benchmark run in the kernel of a user's machine, and
# leave the machine as it was
# usage: selftests/install/host.sh [SUITE]
#
# The machine runs selftests/install/host-guest, with the repository in /root/srnic.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"
. "$selftests/install/machine.sh"

suite=${1:-$(host_release)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# equipped: with the headers of its kernel and what the lab would install and fetch, which
# takes long where each instruction is emulated
equipped()
{
	machine_has "$suite" "linux-headers-$FLAVOUR" make || return
	mkdir "$work/$suite/root/srnic"
	tar --exclude=./build --exclude=./.git -C "$REPO" -c . |
		tar -C "$work/$suite/root/srnic" -x &&
		on_disk "$suite" /root/srnic/tools/lab/install build traffic provider bench &&
		on_disk "$suite" make -C /root/srnic provider
}

ktap_plan 10
check "$suite: a machine"	machine_new "$suite"
check "$suite: equipped"	equipped
check "$suite: its disk"	machine_disk "$suite" "$selftests/install/host-guest"
ktap_relay machine_start "$suite" host
ktap_end
