#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A netdev that moves to another namespace leaves its queue pairs behind at once, and what
# was joined on it is not left there.
#
#   nsA [sr0] veth0 ==== veth1 [sr1] nsB, then nsC

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip
/usr/bin/python3 -c 'import scapy.contrib.roce, pyverbs.qp' 2>/dev/null ||
	skip_all "no scapy, or no pyverbs"

here=$(dirname "$0")

ktap_plan 5
check "two hosts"	pair_up
ip netns add nsC
ktap_relay ip netns exec nsB /usr/bin/python3 "$here/moved.py"
ip netns del nsC
pair_down
ktap_end
