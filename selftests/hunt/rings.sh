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

# polled ARGUMENT...
polled()
{
	local before
	local -x SRNIC_POLL_USECS=20000

	before=$(counter nsA sr0 doorbell_polled)
	hunt_storm "$@" && counter_over nsA sr0 doorbell_polled "$before"
}

# polled_point WHAT ARGUMENT...
polled_point()
{
	if has_workers; then
		check "$1" polled "${@:2}"
	else
		skip "$1" "this kernel has no vhost tasks"
	fi
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
check "by packets"			hunt_storm
polled_point "by packets, polled"
check "by loopback"			hunt_storm "${loopback[@]}"
polled_point "by loopback, polled"	"${loopback[@]}"
check "the rings are freed"		wait_freed areas_are_back
ktap_end
