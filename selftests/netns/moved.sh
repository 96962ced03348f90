#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# When a netdev moves to another namespace, queue pairs stop using it at once, and leave the
# multicast groups joined on it.
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
