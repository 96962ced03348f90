#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A packet that came by an IPsec state which the policy does not allow is not executed,
# even if GRO has put it behind one that came by another.
#
#   a script at nsA ====(two tunnels)==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip tc ethtool
/usr/bin/python3 -c 'import scapy.contrib.roce, pyverbs.qp' 2>/dev/null ||
	skip_all "no scapy, or no pyverbs"
ip xfrm policy >/dev/null 2>&1 || skip_all "this kernel has no IPsec"
modprobe -q sch_netem || skip_all "no netem"

here=$(dirname "$0")
ends=(src 10.9.0.1 dst 10.9.0.2)

cases()
{
	ktap_relay ip netns exec nsB /usr/bin/python3 "$here/ipsec_gro.py" "$@"
}

# tunnel NUMBER: from nsA to nsB, for what has that mark
tunnel()
{
	local key ns

	key=0x$(printf "$1$1%.0s" {1..20})
	for ns in nsA nsB; do
		on "$ns" ip xfrm state add "${ends[@]}" proto esp spi "$1" reqid "$1" \
			mode tunnel aead "rfc4106(gcm(aes))" "$key" 128 || return
	done
	on nsA ip xfrm policy add dir out "${ends[@]}" mark "$1" \
		tmpl "${ends[@]}" proto esp reqid "$1" mode tunnel
}

# The second state is for somebody else: the policy wants the first.
tunnels()
{
	tunnel 1 && tunnel 2 &&
		on nsB ip xfrm policy add dir in "${ends[@]}" proto udp dport 4791 \
			tmpl "${ends[@]}" proto esp reqid 1 mode tunnel
}

# What is sent within a slot arrives at once, and is made into lists.
gro()
{
	on nsA tc qdisc add dev veth0 root netem slot 50ms 50ms &&
		on nsB ethtool -K veth1 gro on rx-gro-list on
}

ktap_plan 6
check "two hosts"	pair_up
check "two tunnels"	tunnels
check "GRO"		gro
cases same other held
ktap_end
