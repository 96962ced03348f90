#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An MTU without room for a RoCE packet takes the port down, and nothing is sent.
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
