#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that corrupts the rings of a link of type srnic_rxe does not affect others.
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB
#
# While one process corrupts its rings, in the ABI of rdma_rxe, another one verifies every
# byte of its own traffic through rdma-core's own provider.

. "$(dirname "$0")/../lib/stock.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/hunt.sh"

loopback=(-a sr0@nsA -b sr0@nsA)
neighbour=("soak: batches of all operations, both ways"
	"uc: SEND of each size"
	"uc: WRITE of each size, with and without immediate"
	"srq: SEND of each size, through four queue pairs")

need rdma gcc make
vrb_make
hunt_make
hunt_seed
ktap_first "two hosts" pair_up
sysctl -qw net.core.netdev_max_backlog=10000	# a full one drops datagrams
hunt_areas

ktap_plan 3
check "by packets"		hunt_storm
check "by loopback"		hunt_storm "${loopback[@]}"
check "the rings are freed"	wait_freed areas_are_back
ktap_end
