#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link is created, follows its netdev, and is removed, on every type of netdev.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB, and others beside them

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip

rdma_link()
{
	on nsA rdma link show | grep -q "link $1/1 $2"
}

# no_link NAME: in no namespace
no_link()
{
	! {
		rdma link show
		on nsA rdma link show
		on nsB rdma link show
	} 2>/dev/null | grep -q "link $1/"
}

# add DEV NAME, in nsA
add()
{
	on nsA rdma link add "$2" type "$TYPE" netdev "$1"
}

# over NAME LINK-ARGUMENTS...: create a netdev of that type and a link on it, remove both
over()
{
	local dev=$1

	shift
	ip -n nsA link add "$dev" "$@" || return
	ip -n nsA link set "$dev" up
	add "$dev" srx || return
	wait_for rdma_link srx "" || return
	on nsA ibv_devinfo -d srx >/dev/null || return
	on nsA rdma link del srx || return
	wait_for no_link srx && add "$dev" srx || return
	ip -n nsA link del "$dev" || return
	wait_for no_link srx
}

# on_vlan: a link is refused, since sr0 on the lower device has the VLAN's addresses already
on_vlan()
{
	ip -n nsA link add veth0.7 link veth0 type vlan id 7 || return
	ip -n nsA addr add 10.9.0.99/24 dev veth0.7
	ip -n nsA link set veth0.7 up
	fails add veth0.7 srv || return
	wait_for has_gid ffff:0a09:0063 || return
	ip -n nsA link del veth0.7 || return
	wait_for no_gid ffff:0a09:0063
}

on_lo()
{
	add lo srl && wait_for rdma_link srl 'state ACTIVE' &&
		on nsA rdma link del srl
}

carrier()
{
	ip -n nsB link set veth1 down || return
	wait_for rdma_link sr0 'state DOWN' || return
	ip -n nsB link set veth1 up || return
	wait_for rdma_link sr0 'state ACTIVE'
}

admin()
{
	ip -n nsA link set veth0 down || return
	wait_for rdma_link sr0 'state DOWN' || return
	ip -n nsA link set veth0 up || return
	wait_for rdma_link sr0 'state ACTIVE'
}

active_mtu_is()
{
	on nsA ibv_devinfo -d sr0 | grep -q "active_mtu:.*$1 "
}

mtu_follows()
{
	ip -n nsA link set veth0 mtu "$1" && wait_for active_mtu_is "$2"
}

netdev_renamed()
{
	ip -n nsA link set veth0 down || return
	ip -n nsA link set veth0 name cable0 || return
	ip -n nsA link set cable0 up || return
	wait_for shown_on sr0 cable0 || return
	ip -n nsA link set cable0 down || return
	ip -n nsA link set cable0 name veth0 || return
	ip -n nsA link set veth0 up
}

shown_on()
{
	on nsA rdma link show "$1/1" | grep -q "netdev $2"
}

has_gid()
{
	on nsA sh -c 'cat /sys/class/infiniband/sr0/ports/1/gids/*' 2>/dev/null |
		grep -q "$1"
}

no_gid()
{
	! has_gid "$1"
}

address_follows()
{
	ip -n nsA addr add 10.9.0.77/24 dev veth0 || return
	wait_for has_gid ffff:0a09:004d || return
	ip -n nsA addr del 10.9.0.77/24 dev veth0 || return
	wait_for no_gid ffff:0a09:004d
}

link_renamed()
{
	on nsA rdma dev set sr0 name srz || return
	wait_for rdma_link srz "" || return
	on nsA rdma dev set srz name sr0
}

again()
{
	local i

	for ((i = 0; i < 20; i++)); do
		on nsA rdma link del sr0 || return
		add veth0 sr0 || return
	done
	wait_for gid_ready nsA sr0
}

# netdev_leaves: a netdev moves to the other host while a link on it is being created.  The
# link ends with the move, or it is created where the netdev is by then.
netdev_leaves()
{
	local adding i

	ip -n nsA link add dummy8 type dummy || return
	for ((i = 0; i < 10; i++)); do
		add dummy8 srw 2>/dev/null &
		adding=$!
		sleep "0.00$i"
		ip -n nsA link set dummy8 netns nsB || return
		wait "$adding"
		on nsB rdma link del srw 2>/dev/null
		wait_for no_link srw || return
		ip -n nsB link set dummy8 netns nsA || return
	done
	ip -n nsA link del dummy8
}

netdev_deleted()
{
	ip -n nsA link del veth0 || return
	wait_for no_link sr0 && wait_for no_link sr1
}

netns_deleted()
{
	pair_down
	pair_up || return
	ip netns del nsA
	wait_for no_link sr0
}

module_removed()
{
	pair_down
	pair_up || return
	# module_removed: unloading is refused while there are links, or deletes them
	if rmmod "$TYPE"; then
		wait_for no_link sr0 || return
	else
		on nsA rdma link del sr0 && on nsB rdma link del sr1 &&
			rmmod "$TYPE" || return
	fi
	modprobe "$TYPE"
}

ktap_plan 27
check "two hosts"			pair_up
check "the same name twice is refused"	fails add lo sr0
check "the same netdev twice is refused" fails add veth0 sry
check "no such netdev is refused"	fails add nothing0 sry
check "deleting an unknown link fails"	fails on nsA rdma link del sry
check "sysfs names the netdev"		on nsA grep -qx veth0 /sys/class/infiniband/sr0/parent
check "sysfs has a hardware revision"	on nsA grep -Eqx '[0-9a-f]+' /sys/class/infiniband/sr0/hw_rev
check "twenty deletions and creations"	again
check "carrier down and up"		carrier
check "netdev down and up"		admin
check "MTU 1500 is 1024"		mtu_follows 1500 1024
check "MTU 9000 is 4096"		mtu_follows 9000 4096
check "the netdev's new name is shown"	netdev_renamed
check "addresses are added and removed"	address_follows
check "a link is renamed"		link_renamed
check "over a vlan"			on_vlan
check "over a macvlan"			over mac0 link veth0 type macvlan mode bridge
check "over a bridge"			over br0 type bridge
check "over a bond"			over bond7 type bond
check "over a dummy"			over dummy7 type dummy
check "over lo"				on_lo
check "a netdev is moved meanwhile"	netdev_leaves
check "no link is left over"		no_link srx
check "the pair still works"		pair ib_write_bw -n 100
check "netdev deleted"			netdev_deleted
check "namespace deleted"		netns_deleted
check "module removed"			module_removed
pair_down
ktap_end
