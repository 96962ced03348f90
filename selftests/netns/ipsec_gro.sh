#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A packet that arrived by an IPsec state that the policy does not permit is not executed,
# even if GRO has appended it to a packet of another state.
#
#   a script at nsA ====(two tunnels)==== veth1 [sr1] nsB
#                                                     veth6 ==== veth7 [sr2] nsC

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip tc ethtool
need_python scapy.contrib.roce pyverbs.qp
ip xfrm policy >/dev/null 2>&1 || skip_all "this kernel has no IPsec"
modprobe -q sch_netem || skip_all "no netem"

trap 'ip netns del nsC 2>/dev/null; pair_down' EXIT

ends=(src 10.9.0.1 dst 10.9.0.2)

# tunnel NUMBER: from nsA to nsB, for packets with that mark
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

# The second state belongs to another flow: the policy requires the first.
tunnels()
{
	tunnel 1 && tunnel 2 &&
		on nsB ip xfrm policy add dir in "${ends[@]}" proto udp dport 4791 \
			tmpl "${ends[@]}" proto esp reqid 1 mode tunnel
}

# A container behind nsB, which receives packets that have arrived by the first state.
container_up()
{
	local inner=(src 10.9.0.1 dst 10.7.0.2)

	ip netns add nsC &&
		ip link add veth6 mtu 4200 netns nsB type veth \
			peer name veth7 mtu 4200 netns nsC &&
		ip -n nsB addr add 10.7.0.1/24 dev veth6 &&
		ip -n nsB link set veth6 up &&
		ip -n nsC addr add 10.7.0.2/24 dev veth7 &&
		ip -n nsC link set veth7 up &&
		ip -n nsC route add default via 10.7.0.1 &&
		ip -n nsA route add 10.7.0.0/24 via 10.9.0.2 &&
		on nsB sysctl -q net.ipv4.ip_forward=1 &&
		on nsA ip xfrm policy add dir out "${inner[@]}" mark 1 \
			tmpl "${ends[@]}" proto esp reqid 1 mode tunnel &&
		on nsB ip xfrm policy add dir fwd "${inner[@]}" \
			tmpl "${ends[@]}" proto esp reqid 1 mode tunnel &&
		on nsC rdma link add sr2 type srnic netdev veth7 &&
		wait_for gid_index nsC sr2 '*ffff:0a07:*'
}

# nsA forwards packets from veth9, even with its own address, in fragments of ESP.
fragments_up()
{
	ip link add veth8 mtu 4200 netns nsA type veth \
			peer name veth9 mtu 4200 netns nsA &&
		ip -n nsA link set veth8 up && ip -n nsA link set veth9 up &&
		on nsA sysctl -q net.ipv4.ip_forward=1 \
			net.ipv4.conf.veth9.accept_local=1 &&
		ip -n nsA link set veth0 mtu 1500
}

# Packets sent within a slot arrive back-to-back, and GRO builds lists of them.
gro()
{
	on nsA tc qdisc add dev veth0 root netem slot 50ms 50ms &&
		on nsB ethtool -K veth1 gro on rx-gro-list on
}

ktap_plan 10
check "two hosts"	pair_up
check "two tunnels"	tunnels
check "GRO"		gro
cases nsB same other
check "a container"	container_up
cases nsC container
check "fragments"	fragments_up
cases nsB jumbo held
ip netns del nsC
ktap_end
