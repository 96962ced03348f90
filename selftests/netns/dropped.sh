#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Responses that the requester's host drops, for lack of memory or because they have waited
# for too long, are requested again, even with an infinite timeout.
#
#   a script at veth0 of nsA ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip
need_python scapy.contrib.roce pyverbs.qp

ktap_plan 4
check "two hosts"	pair_up
cases nsB
ktap_end
