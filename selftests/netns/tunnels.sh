#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# GSO chains pass routers: tunnels split them behind the first device, and no packet exceeds
# the MTU of the outgoing device.
#
#   nsA [sr0] veth0 ==== r0 nsR u0 ======(tunnel)====== u1 nsS s0 ==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ib_send_bw ethtool nft
need_python pyverbs.qp

trap 'hosts_down' EXIT

hosts_down()
{
	pair_down
	ip netns del nsR
	ip netns del nsS
} 2>/dev/null

# router NS OUTER-DEV NUMBER INNER-DEV: answers ARP for the other side
router()
{
	ip -n "$1" -batch - <<-EOT
		link set lo up
		addr add 10.98.0.$3/24 dev $2
		addr add fd98::$3/64 dev $2 nodad
		link set $2 up
		link set $4 up
		route add 10.9.0.$3/32 dev $4
	EOT
	on "$1" sysctl -qw net.ipv4.ip_forward=1 "net.ipv4.conf.$4.proxy_arp=1"
}

hosts()
{
	hosts_down
	ip netns add nsR && ip netns add nsS && host_new nsA "$TYPE" && host_new nsB "$TYPE" &&
		ip link add veth0 mtu 4200 netns nsA type veth peer name r0 mtu 4200 netns nsR &&
		ip link add veth1 mtu 4200 netns nsB type veth peer name s0 mtu 4200 netns nsS &&
		ip link add u0 mtu 9000 netns nsR type veth peer name u1 mtu 9000 netns nsS &&
		router nsR u0 1 r0 && router nsS u1 2 s0 &&
		host_up nsA veth0 sr0 1 "$TYPE" && host_up nsB veth1 sr1 2 "$TYPE" || return
	wait_for gid_ready nsA sr0 && wait_for gid_ready nsB sr1 || return
	objects_before=$(objects)
}

# tunnel_end KIND NS NUMBER OTHER
tunnel_end()
{
	case $1 in
	vxlan) ip -n "$2" link add over0 type vxlan id 7 local "10.98.0.$3" remote "10.98.0.$4" \
		dstport 4789 ;;
	vxlan6) ip -n "$2" link add over0 type vxlan id 7 local "fd98::$3" remote "fd98::$4" \
		dstport 4789 ;;
	*) ip -n "$2" link add over0 type "$1" local "10.98.0.$3" remote "10.98.0.$4" ;;
	esac && ip -n "$2" -batch - <<-EOT
		link set over0 mtu 4200
		addr add 10.97.0.$3/24 dev over0
		link set over0 up
		route replace 10.9.0.$4/32 via 10.97.0.$4 dev over0
	EOT
}

tunnel()
{
	ip -n nsR link del over0
	ip -n nsS link del over0
	tunnel_end "$1" nsR 1 2 && tunnel_end "$1" nsS 2 1
} 2>/dev/null

# chains_in_tunnels on|off: set whether the wire between the routers carries whole chains
chains_in_tunnels()
{
	on nsR ethtool -K u0 tx-gso-list "$1" tx-udp-segmentation "$1" &&
		on nsS ethtool -K u1 tx-gso-list "$1" tx-udp-segmentation "$1"
}

traffic()
{
	pair ib_write_bw -s 65536 -n 50 && pair ib_send_bw -s 65536 -n 50 -b &&
		pingpong rc -c -s 60000 -n 20
}

# narrow: replace the tunnel by a wire from nsR to nsS with an MTU of 1500
narrow()
{
	ip -n nsR link del over0
	ip -n nsR link set u0 mtu 1500 && ip -n nsS link set u1 mtu 1500 &&
		ip -n nsR route replace 10.9.0.2/32 via 10.98.0.2 dev u0 &&
		ip -n nsS route replace 10.9.0.1/32 via 10.98.0.1 dev u1 &&
		chains_in_tunnels off && on nsS nft "table netdev wire {
			counter short { }
			counter long { }
			chain in {
				type filter hook ingress device u1 priority 0;
				udp dport 4791 meta length > 1514 counter name long
				udp dport 4791 counter name short
			}
		}"
} 2>/dev/null

# mixed: post messages of 8 and 4096 bytes in one list, by a queue pair without a peer
mixed()
{
	# shellcheck disable=SC2154 # netns.sh says where
	PYTHONPATH=$selftests/lib ip netns exec nsA /usr/bin/python3 - <<-EOT
		from lone import SGE, Lone, SendWR

		with Lone("sr0", "10.9.0.1", "10.9.0.2").to_init().to_rtr().to_rts(timeout=12) as lone:
		    wrs = [SendWR(num_sge=1, sg=[SGE(lone.addr, size, lone.mr.lkey)])
		           for size in (8, 4096)]
		    wrs[0].next_wr = wrs[1]
		    lone.qp.post_send(wrs[0])
		    assert lone.completions(wait=True)
	EOT
}

# wire_had SIZE: packets of that size have passed the narrow wire
wire_had()
{
	! on nsS nft list counter netdev wire "$1" | grep -q 'packets 0 '
}

kinds=(vxlan vxlan6 ipip gre)
ktap_plan $((5 + 3 * ${#kinds[@]}))
check "routers between two hosts"	hosts
for kind in "${kinds[@]}"; do
	if ! tunnel "$kind"; then
		for what in "a tunnel" "chains are split in it" "chains pass it whole"; do
			skip "$kind: $what"	"this kernel has none"
		done
		continue
	fi
	check "$kind: a tunnel"			chains_in_tunnels off
	check "$kind: chains are split in it"	traffic
	chains_in_tunnels on
	check "$kind: chains pass it whole"	traffic
done
check "a wire with a small MTU"		narrow
check "a short and a long message"	mixed
check "the short one passes"		wire_had short
check "the long one does not"		eval '! wire_had long'
ktap_end
