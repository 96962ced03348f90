#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An MTU without room for a RoCE packet takes the port down, and nothing is sent.
#
#   nsA [sr0] veth0 ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ibv_asyncwatch stdbuf
/usr/bin/python3 -c 'import scapy.contrib.roce, pyverbs.qp' 2>/dev/null ||
	skip_all "no scapy, or no pyverbs"

here=$(dirname "$0")

ktap_plan 7
check "two hosts"	pair_up
ktap_relay ip netns exec nsA /usr/bin/python3 "$here/small_mtu.py"
pair_down
ktap_end
