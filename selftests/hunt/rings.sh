#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that corrupts the rings it shares with the kernel does not affect others.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# While one process corrupts its rings, another one verifies every byte of its own traffic:
# by packets and by loopback, with doorbells and polled.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/hunt.sh"

loopback=(-a sr0@nsA -b sr0@nsA)

# storm POLL-USECS ARGUMENT...
storm()
{
	echo "$1" >/sys/module/srnic/parameters/poll_usecs
	shift
	hunt_storm "$@"
}

need rdma gcc make
vrb_make
hunt_make
hunt_seed
ktap_first "two hosts" pair_up
sysctl -qw net.core.netdev_max_backlog=10000	# a full one drops datagrams
hunt_areas
# except the count of wrong Q_Keys, which the hostile process sends to the same device
mapfile -t neighbour < <(vrb -l soak uc ud xrc | grep -v "a wrong Q_Key is .* counted")

ktap_plan 5
check "by packets"			storm 0
check "by packets, polled"		storm 20000
check "by loopback"			storm 0 "${loopback[@]}"
check "by loopback, polled"		storm 20000 "${loopback[@]}"
echo 0 >/sys/module/srnic/parameters/poll_usecs
check "the rings are freed"		wait_freed areas_are_back
ktap_end
