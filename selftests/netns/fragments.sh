#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are received from page fragments, however a NIC or GRO has divided them: ICRC and
# payload are read in place.
#
#   a script at tap7 [sr7] nsB        a script at veth0 of nsA ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip tc ethtool
need_python scapy.contrib.roce pyverbs.qp
[ -e /dev/net/tun ] || modprobe -q tun || skip_all "this kernel has no TUN"

# several_at_once: packets of nsA reach nsB's GRO back-to-back
several_at_once()
{
	modprobe -q sch_netem
	on nsA tc qdisc add dev veth0 root netem slot 50ms 50ms &&
		on nsB ethtool -K veth1 gro on rx-gro-list on
}

ktap_plan 13
check "two hosts"	pair_up
cases nsB write every_bit lengths atomic_write send read datagram absent watched \
	reassembled
check "packets leave together"	several_at_once
cases nsB chain
ktap_end
