#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets overtake each other, and every byte arrives in order.
#
#   nsA [sr0] veth0 ===(reordering 5 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make tc
vrb_make || skip_all "the harness does not build here"

both_ways()
{
	netem nsA veth0 "$@" && netem nsB veth1 "$@"
}

# wire_busy: netem has had packets to work on
wire_busy()
{
	on nsB tc -s qdisc show dev ifb-veth1 |
		awk '/Sent/ { sent = $4 } END { exit !(sent > 100) }'
}

ktap_plan 5
check "two hosts"			pair_up
check "a wire with reordering 5 %"			both_ways delay 200us reorder 5%
vrb_cases -n 25 soak
check "packets went over that wire"	wire_busy
check "sr1 saw gaps"		counter_over nsB sr1 out_of_seq_request 0
clear_wire
ktap_end
