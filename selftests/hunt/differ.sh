#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Random requests have the same outcome on srnic, srnic_rxe and rdma_rxe, except for the
# differences listed in differ_known.c.
#
#   nsA [sr0 srnic]     veth0 ================ veth1 [sr1 srnic]     nsB
#   nsC [sr2 srnic_rxe] veth2 ================ veth3 [sr3 srnic_rxe] nsD
#   nsE [sr4 rxe]       veth4 ================ veth5 [sr5 rxe]       nsF

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/hunt.sh"

count=$(hunt_num 100 10000)

# pair_more TYPE NS LINK NETDEV NS LINK NETDEV
pair_more()
{
	ip netns add "$2" && ip netns add "$5" || return
	ip link add "$4" mtu 4200 netns "$2" type veth \
		peer name "$7" mtu 4200 netns "$5" || return
	host_up "$2" "$4" "$3" 1 "$1" && host_up "$5" "$7" "$6" 2 "$1" || return
	wait_for gid_ready "$2" "$3" && wait_for gid_ready "$5" "$6"
}

pairs_up()
{
	pairs_down
	pair_more srnic_rxe nsC sr2 veth2 nsD sr3 veth3 &&
		pair_more rxe nsE sr4 veth4 nsF sr5 veth5 && pair_up
}

pairs_down()
{
	local i=2 ns

	for ns in nsC nsD nsE nsF; do
		on "$ns" rdma link del "sr$i"
		ip -n "$ns" link del "veth$i"
		ip netns del "$ns"
		i=$((i + 1))
	done 2>/dev/null
	pair_down
}

trap pairs_down EXIT

need rdma gcc make
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"
hunt_make
hunt_seed
ktap_first "a pair of each type" pairs_up

ktap_plan 1
ktap_relay "${hunt_dir:?}/hunt-differ" -s "$SEED" -n "$count"
ktap_end
