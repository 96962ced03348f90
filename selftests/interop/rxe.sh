#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic and the kernel's soft RoCE interoperate, in both roles.
#
#   nsA [sr0 srnic] veth0 ================ veth1 [sr1 rxe] nsB, then turned round
#
# run: rdma_rxe as the peer | linux
#   | module rdma_rxe on the peer
#   | on the peer ``rdma link add rxe0 type rxe netdev eth0``

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"
vrb_make

# turned TYPE-A TYPE-B
turned()
{
	TYPE_A=$1 TYPE_B=$2
	pair_up
}

# shellcheck disable=SC2154 # vrb.sh has them
ktap_plan $((2 * (4 + ${#vrb_common[@]})))
for types in "srnic rxe" "rxe srnic"; do
	# shellcheck disable=SC2086 # two words
	check "a pair of $types"	turned $types
	# rxe before 7.0 raises no events for errors caused by the peer
	events=() on_demand=requester
	[ "$types" = "rxe srnic" ] || events=(-e) on_demand=responder
	vrb_cases "${events[@]}" "${vrb_common[@]}" \
		"odp: every size and offset, pinned at the $on_demand"
	check "$types: perftest"	pair ib_write_bw -n 200
	check "$types: no object left"	no_object_is_left
	pair_down
done
ktap_end
