#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Bits flip, and none of them reaches memory.
#
#   nsA [sr0] veth0 ===(corruption 1 % both ways)=== veth1 [sr1] nsB

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
check "a wire with corruption 1 %"			both_ways corrupt 1%
vrb_cases -n 25 soak
check "packets went over that wire"	wire_busy
check "sr1 refused packets"		counter_over nsB sr1 rx_icrc_error 0
clear_wire
ktap_end
