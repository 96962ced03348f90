#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A queue pair receives only packets that its peer sends and that arrive on the netdev of its
# path; raw packet queue pairs and work queues cannot be addressed from the wire.
#
#   a script at veth0 of nsA ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ethtool nft tc
need_python scapy.contrib.roce pyverbs.qp

# shared NS DEV NUMBER: assign addresses that two devices of nsB share
shared()
{
	ip -n "$1" addr replace "10.8.0.$3/24" dev "$2" &&
		ip -n "$1" addr replace "fd08::$3/64" dev "$2" nodad
}

# vlan_up NS DEV ID NUMBER
vlan_up()
{
	ip -n "$1" link add link "$2" name "$2.$3" type vlan id "$3" &&
		ip -n "$1" link set "$2.$3" up && shared "$1" "$2.$3" "$4"
}

# Two VLANs of nsB have the same addresses.
vlans_up()
{
	vlan_up nsA veth0 7 1 && vlan_up nsB veth1 7 2 && vlan_up nsB veth1 8 2
}

vlans_down()
{
	ip -n nsA link del veth0.7 && ip -n nsB link del veth1.7 &&
		ip -n nsB link del veth1.8
}

third_up()
{
	ip link add veth2 netns nsA type veth peer name veth3 netns nsB &&
		ip -n nsA link set veth2 up && ip -n nsB link set veth3 up
}

# vrf_up NAME TABLE DEV...: create a VRF with those devices, and addresses of its own
vrf_up()
{
	local dev vrf=$1

	ip -n nsB link add "$vrf" type vrf table "$2" &&
		ip -n nsB link set "$vrf" up || return
	shift 2
	for dev; do
		ip -n nsB link set "$dev" master "$vrf" || return
	done
	ip -n nsB addr add 10.8.1.2/32 dev "$vrf" &&
		ip -n nsB addr add fd08:1::2/128 dev "$vrf" nodad
}

# Two devices are in one VRF, and a third is in another.  All three have the same
# addresses, and so have the VRFs.
vrfs_up()
{
	vlan_up nsA veth0 7 1 && vlan_up nsB veth1 7 2 && vlan_up nsB veth1 9 2 &&
		vrf_up red 100 veth1.7 veth1.9 && vrf_up blue 200 veth3 &&
		shared nsB veth1.7 2 && shared nsB veth1.9 2 && shared nsB veth3 2
}

vrfs_down()
{
	ip -n nsB link del red && ip -n nsB link del blue &&
		ip -n nsA link del veth0.7 && ip -n nsB link del veth1.7 &&
		ip -n nsB link del veth1.9
}

# local_rule FROM TO: change the priority of the lookup of local addresses outside VRFs
local_rule()
{
	local family

	for family in -4 -6; do
		ip "$family" -n nsB rule add pref "$2" lookup local &&
			ip "$family" -n nsB rule del pref "$1" || return
	done
}

# Two VRFs and the rest of the host have the same two addresses; each netdev has an
# RDMA device.
selves_up()
{
	local dev sr=5

	local_rule 0 2000 || return

	for dev in both one two both_blue; do
		ip -n nsB link add "$dev" type dummy &&
			ip -n nsB link set "$dev" up &&
			on nsB rdma link add "sr$((sr++))" type srnic netdev "$dev" ||
			return
	done
	vrf_up red 100 one two && vrf_up blue 200 both_blue &&
		self_has both 1 2 && self_has one 1 && self_has two 2 &&
		self_has both_blue 1 2
}

# self_has DEV NUMBER...: assign addresses to a device of this host
self_has()
{
	local dev=$1 number

	shift
	for number; do
		ip -n nsB addr add "10.8.4.$number/24" dev "$dev" &&
			ip -n nsB addr add "fd08:4::$number/64" dev "$dev" nodad ||
			return
	done
}

selves_down()
{
	local dev

	for dev in red blue both one two both_blue; do
		ip -n nsB link del "$dev" || return
	done
	local_rule 2000 0
}

# upper_up COMMAND: run COMMAND, which creates a device above veth1
upper_up()
{
	"$1" && ip -n nsB link set upper up && shared nsA veth0 1 &&
		shared nsB upper 2 && ip -n nsB addr add 10.8.2.2/24 dev upper
}

macvlan()
{
	ip -n nsB link add upper link veth1 type macvlan mode bridge
}

# sr3 has an address that sr1 does not have.
bridge()
{
	ip -n nsB link add upper mtu 4200 type bridge &&
		ip -n nsB link set veth1 master upper &&
		ip -n nsB link set veth3 master upper &&
		on nsB rdma link add sr3 type srnic netdev veth3 &&
		ip -n nsB addr add 10.8.3.2/24 dev veth3
}

bridge_down()
{
	on nsB rdma link del sr3 && ip -n nsB link del upper &&
		ip -n nsB addr del 10.8.3.2/24 dev veth3
}

# Packets received on veth1 arrive by the bond; veth3 has all addresses of the bond but one.
bond_up()
{
	ip -n nsB link add bond7 mtu 4200 type bond mode active-backup \
		miimon 10 &&
		ip -n nsB link set veth1 down &&
		ip -n nsB link set veth1 master bond7 &&
		ip -n nsB link set bond7 up && shared nsA veth0 1 &&
		shared nsB bond7 2 && shared nsB veth3 2 &&
		ip -n nsB addr add 10.8.2.2/24 dev bond7
}

modprobe -q vrf
modprobe -q bonding max_bonds=0
ktap_plan 55
check "two hosts"	pair_up
cases nsB foreign4 foreign6 connected4 connected6 lengths options4 options6 raw wq crowd4 crowd6 \
	unkeyed hoards tracked
cases nsB kept4 kept6 bulky responses no_room budget forgotten moved moved_read
if modprobe -q sch_netem; then
	cases nsB lists
else
	skip "lists"	"no netem"
fi
check "two VLANs"	vlans_up
cases nsB vlans4 vlans6
check "no VLAN"		vlans_down
check "a third device"	third_up
vrf_cases=(vrfs4 vrfs6 vrf_address4 vrf_address6 vrf_ud4 vrf_ud6 vrf_mcast)
if ip -n nsB link add test type vrf table 99 2>/dev/null; then
	ip -n nsB link del test
	check "two VRFs"	vrfs_up
	cases nsB "${vrf_cases[@]}"
	check "no VRF"		vrfs_down
	check "three hosts"	selves_up
	cases nsB selves4 selves6
	check "one host"	selves_down
else
	for name in "two VRFs" "${vrf_cases[@]}" "no VRF" \
		"three hosts" selves4 selves6 "one host"; do
		skip "$name"	"this kernel has none"
	done
fi
check "a macvlan"	upper_up macvlan
cases nsB macvlan_mcast
check "no macvlan"	ip -n nsB link del upper
check "a bridge"	upper_up bridge
cases nsB bridge_mcast
check "no bridge"	bridge_down
check "a bond"		bond_up
cases nsB bond4 bond6 bond_ud4 bond_ud6 bond_mcast
ip -n nsA link del veth2 2>/dev/null
ktap_end
