#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# If the MTU is too small for a RoCE packet, the port is down and no packet is sent.
#
#   nsA [sr0] veth0 ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ibv_asyncwatch stdbuf
need_python scapy.contrib.roce pyverbs.qp

ktap_plan 7
check "two hosts"	pair_up
cases nsA
pair_down
ktap_end
