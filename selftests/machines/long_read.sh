#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Requests of a queue pair complete while it answers a long READ of another machine; a long
# READ is one that takes minutes on this wire.  The reader is rdma_rxe, since srnic would
# divide it into many.
#
#   A: nsA [sr0 rxe] veth0 ========(4 Mbit/s)==== veth1 [sr1 srnic] nsB: B

TYPE_A=rxe
. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need tc ethtool
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"
modprobe -q sch_tbf || skip_all "no sch_tbf"

# slow_line: RoCE packets leave nsB as a token bucket lets them, one by one; TCP overtakes them
slow_line()
{
	on nsB ethtool -K veth1 tx-gso-list off tx-udp-segmentation off
	on nsB tc qdisc add dev veth1 root handle 1: prio \
		bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		on nsB tc qdisc add dev veth1 parent 1:2 tbf rate 4mbit burst 16k limit 1m &&
		on nsB tc filter add dev veth1 parent 1: protocol ip \
			flower ip_proto udp dst_port 4791 classid 1:2
}

vrb_up
ktap_plan 4
check "a slow line"	slow_line
check "a server"	vrb_serve
vrb_cases -p 10.9.0.2 "long read"
ktap_end
