#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A netdev that moves to another namespace leaves its queue pairs behind at once, and what
# was joined on it is not left there.
#
#   nsA [sr0] veth0 ==== veth1 [sr1] nsB, then nsC

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip
need_python scapy.contrib.roce pyverbs.qp

ktap_plan 5
check "two hosts"	pair_up
ip netns add nsC
cases nsB
ip netns del nsC
pair_down
ktap_end
