#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are received from page fragments, however a NIC or GRO has cut them: ICRC and
# payload are read where they lie.
#
#   a script at tap7 [sr7] nsB        a script at veth0 of nsA ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip tc ethtool
/usr/bin/python3 -c 'import scapy.contrib.roce, pyverbs.qp' 2>/dev/null ||
	skip_all "no scapy, or no pyverbs"
[ -e /dev/net/tun ] || modprobe -q tun || skip_all "this kernel has no TUN"

here=$(dirname "$0")

# cases CASE...: run those of fragments.py on nsB; each is a check
cases()
{
	ktap_relay ip netns exec nsB /usr/bin/python3 "$here/fragments.py" "$@"
}

# several_at_once: what nsA sends reaches nsB's GRO together
several_at_once()
{
	modprobe -q sch_netem
	on nsA tc qdisc add dev veth0 root netem slot 50ms 50ms &&
		on nsB ethtool -K veth1 gro on rx-gro-list on
}

ktap_plan 13
check "two hosts"	pair_up
cases write every_bit lengths atomic_write send read datagram absent watched \
	reassembled
check "packets leave together"	several_at_once
cases chain
ktap_end
