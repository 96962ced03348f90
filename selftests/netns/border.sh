#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Only what its peer sends, by the device that leads to the peer, gets as far as a
# queue pair; frames and work queues have no address on the wire.
#
#   a script at veth0 of nsA ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ethtool nft tc
/usr/bin/python3 -c 'import scapy.contrib.roce, pyverbs.qp' 2>/dev/null ||
	skip_all "no scapy, or no pyverbs"

here=$(dirname "$0")

# cases CASE...: of border.py, on nsB; each is a check
cases()
{
	ktap_relay ip netns exec nsB /usr/bin/python3 "$here/border.py" "$@"
}

vlan_up()
{
	ip -n "$1" link add link "$2" name "$2.$3" type vlan id "$3" &&
		ip -n "$1" addr add "$4" dev "$2.$3" &&
		ip -n "$1" link set "$2.$3" up
}

# Two VLANs of nsB have the same address.
vlans_up()
{
	vlan_up nsA veth0 7 10.8.0.1/24 && vlan_up nsB veth1 7 10.8.0.2/24 &&
		vlan_up nsB veth1 8 10.8.0.2/24
}

# veth1.7 is in one VRF, and what has the same address is in another.  The VRFs
# have an address of their own, which is the same, too.
vrfs_up()
{
	ip -n nsB link add red type vrf table 100 && ip -n nsB link set red up &&
		ip -n nsB link add blue type vrf table 200 &&
		ip -n nsB link set blue up &&
		ip -n nsB link set veth1.7 master red &&
		ip -n nsB link del veth1.8 &&
		ip link add veth2 netns nsA type veth peer name veth3 netns nsB &&
		ip -n nsA link set veth2 up &&
		ip -n nsB link set veth3 master blue up &&
		ip -n nsB addr add 10.8.0.2/24 dev veth3 &&
		ip -n nsB addr add 10.8.1.2/32 dev red &&
		ip -n nsB addr add 10.8.1.2/32 dev blue
}

modprobe -q vrf
ktap_plan 24
check "two hosts"	pair_up
cases connected4 connected6 lengths raw wq crowd4 crowd6 unkeyed hoards tracked
cases kept4 kept6 bulky responses budget forgotten moved
if modprobe -q sch_netem; then
	cases lists
else
	skip "lists"	"no netem"
fi
check "two VLANs"	vlans_up
cases vlans
if ip -n nsB link add test type vrf table 99 2>/dev/null; then
	check "two VRFs"	vrfs_up
	cases vrfs vrf_address
else
	skip "two VRFs"	"this kernel has none"
	skip "vrfs"	"this kernel has none"
	skip "vrf_address"	"this kernel has none"
fi
ip -n nsA link del veth2 2>/dev/null
ktap_end
