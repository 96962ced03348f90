#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# While a host answers a long READ, which takes minutes on this wire, its own requests
# continue.
#
#   a script at veth0 of nsA ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip tc ethtool
need_python scapy.contrib.roce pyverbs.qp

# tokens: limit nsB by a token bucket, with packets sent one by one
tokens()
{
	on nsB ethtool -K veth1 tx-gso-list off tx-udp-segmentation off &&
		on nsB tc qdisc add dev veth1 root tbf rate 1gbit burst 16k limit 1m
}

modprobe -q sch_tbf || skip_all "no sch_tbf"
ktap_plan 10
check "two hosts"	pair_up
check "a slow wire"	tokens
cases nsB read behind_requests kept lots crowded absent gone repeated
ktap_end
