#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One packet in a hundred is lost, and every byte arrives.
#
#   nsA [sr0] veth0 ===(loss 1 % both ways)=== veth1 [sr1] nsB

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
check "a wire with loss 1 %"			both_ways loss 1%
vrb_cases -n 25 soak
check "packets went over that wire"	wire_busy
check "sr0 had to go back"		counter_over nsA sr0 go_back 0
clear_wire
ktap_end
