#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links work on each kind of netdev that carries IP, and are refused elsewhere.
#
#   nsA   [sr0] x ----- veth0 ================ veth1 ----- x [sr1]   nsB
#                 ----- veth2 ================ veth3 -----
#               ctl ============================ ctl
#
# x is the netdev of that kind, 10.77.0.1 and 10.77.0.2.  Programs agree over ctl.

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ib_write_bw ibv_ud_pingpong rping

said=$(mktemp)
trap 'down; pair_down; rm -f "$said"' EXIT

# --- kinds: KIND NS NUMBER LOWER OTHER creates x at one end ------------------------------

veth()
{
	ip -n "$1" link set "$3" name x
}

vlan()
{
	ip -n "$1" link add x link "$3" type vlan id 7
}

vlan_in_vlan()
{
	ip -n "$1" link add outer link "$3" type vlan proto 802.1ad id 8 &&
		ip -n "$1" link set outer up &&
		ip -n "$1" link add x link outer type vlan id 7
}

# port NS DEV
port()
{
	ip -n "$1" link set "$2" down && ip -n "$1" link set "$2" master x
}

bond()
{
	ip -n "$1" link add x type bond mode active-backup miimon 10 &&
		port "$1" "$3" && port "$1" "$4"
}

bond_of_both()
{
	ip -n "$1" link add x type bond mode balance-xor miimon 10 xmit_hash_policy layer3+4 &&
		port "$1" "$3" && port "$1" "$4"
}

vlan_on_bond()
{
	ip -n "$1" link add outer type bond mode active-backup miimon 10 &&
		ip -n "$1" link set "$3" down && ip -n "$1" link set "$3" master outer &&
		ip -n "$1" link set outer up &&
		ip -n "$1" link add x link outer type vlan id 7
}

# of NS DEV FILE: print that sysfs attribute of a netdev
of()
{
	on "$1" cat "/sys/class/net/$2/$3"
}

# Configures the team device like teamd
team()
{
	ip -n "$1" link add x address "$(of "$1" "$3" address)" type team &&
		on "$1" teamnl x setoption mode activebackup &&
		port "$1" "$3" && ip -n "$1" link set "$3" up &&
		on "$1" teamnl x setoption activeport "$(of "$1" "$3" ifindex)"
}

bridge()
{
	ip -n "$1" link add x type bridge && ip -n "$1" link set "$3" master x
}

macvlan()
{
	ip -n "$1" link add x link "$3" type macvlan mode bridge
}

ipvlan_l2()
{
	ip -n "$1" link add x link "$3" type ipvlan mode l2
}

# Behind a router, which is the lower device
ipvlan_l3()
{
	local other=$((3 - $2))

	outside "$@" && ip -n "$1" link add x link "$3" type ipvlan mode l3 &&
		ip -n "$1" route add "10.77.0.$other" via "10.78.0.$other" &&
		ip -n "$1" route add "fd77::$other" via "fd78::$other"
}

# outside NS NUMBER LOWER: addresses of the network below
outside()
{
	ip -n "$1" addr add "10.78.0.$2/24" dev "$3" &&
		ip -n "$1" addr add "fd78::$2/64" dev "$3" nodad
}

vxlan()
{
	outside "$@" && ip -n "$1" link add x type vxlan id 7 dstport 4789 \
		local "10.78.0.$2" remote "10.78.0.$((3 - $2))"
}

geneve()
{
	outside "$@" && ip -n "$1" link add x type geneve id 7 remote "10.78.0.$((3 - $2))"
}

gretap()
{
	outside "$@" && ip -n "$1" link add x type gretap local "10.78.0.$2" \
		remote "10.78.0.$((3 - $2))"
}

macsec()
{
	local key=00112233445566778899aabbccddeeff
	local peer=("" 02:00:00:00:00:02 02:00:00:00:00:01)

	ip -n "$1" link set "$3" address "02:00:00:00:00:0$2" &&
		ip -n "$1" link add x link "$3" type macsec encrypt on &&
		ip -n "$1" macsec add x tx sa 0 pn 1 on key 01 "$key" &&
		ip -n "$1" macsec add x rx port 1 address "${peer[$2]}" &&
		ip -n "$1" macsec add x rx port 1 address "${peer[$2]}" sa 0 pn 1 on key 01 "$key"
}

# wg_key NUMBER: a private key
wg_key()
{
	printf '%032d' "$1" | base64
}

wireguard()
{
	local other=$((3 - $2))

	outside "$@" && ip -n "$1" link add x type wireguard &&
		on "$1" wg set x listen-port 51820 private-key <(wg_key "$2") \
			peer "$(wg_key "$other" | wg pubkey)" \
			endpoint "10.78.0.$other:51820" allowed-ips "10.77.0.$other,fd77::$other"
}

# The program that implements the wire creates both.
tap()
{
	[ "$1" = nsA ] || return 0
	exec {wire}< <(exec python3 "${selftests:?}/lib/tun_wire.py" tap nsA x nsB x)
	wire_made
}

# netkit MODE NS: the first call creates both.
netkit()
{
	[ "$2" = nsB ] || python3 "${selftests:?}/lib/netkit.py" "$1" 4200 nsA x nsB x
}

netkit_l2()
{
	netkit l2 "$1"
}

netkit_l3()
{
	netkit l3 "$1"
}

# A Wi-Fi network without an access point; the radios are those of mac80211_hwsim.
wifi()
{
	iw phy "phy$(($2 - 1))" set netns name "$1" &&
		ip -n "$1" link set "wlan$(($2 - 1))" name x &&
		on "$1" iw dev x set type ibss && ip -n "$1" link set x up &&
		on "$1" iw dev x ibss join srnic 2412 fixed-freq 02:00:00:00:00:07
}

# --- what is done with them --------------------------------------------------------------

hosts()
{
	local i

	down
	host_new nsA "$TYPE" && host_new nsB "$TYPE" || return
	for i in 0 2; do
		ip link add "veth$i" mtu 4200 netns nsA type veth \
			peer name "veth$((i + 1))" mtu 4200 netns nsB || return
	done
	ip link add ctl netns nsA type veth peer name ctl netns nsB &&
		host_ctl nsA 1 veth0 veth2 && host_ctl nsB 2 veth1 veth3
}

# host_ctl NS NUMBER LOWER...
host_ctl()
{
	ip -n "$1" -batch - <<-EOT
		link set lo up
		link set ctl up
		link set $3 up
		link set $4 up
		addr add 10.9.0.$2/24 dev ctl
	EOT
}

down()
{
	pair_down
	unplug
}

# ends KIND: x at both ends, with addresses
ends()
{
	"$1" nsA 1 veth0 veth2 && "$1" nsB 2 veth1 veth3 && addresses nsA 1 && addresses nsB 2
}

addresses()
{
	ip -n "$1" -batch - <<-EOT
		addr add 10.77.0.$2/24 dev x
		addr add fd77::$2/64 dev x nodad
		link set x up
	EOT
}

# has_gids NS DEV: of both addresses
has_gids()
{
	local gids

	gids=$(on "$1" sh -c "cat /sys/class/infiniband/$2/ports/1/gids/?" 2>/dev/null)
	[[ $gids == *ffff:0a4d:* && $gids == *fd77:* ]] || { echo "$gids"; return 1; }
}

# link_on NS DEV: its GIDs are there at once
link_on()
{
	on "$1" rdma link add "$2" type "$TYPE" netdev x && has_gids "$1" "$2"
}

reachable()
{
	on nsA ping -q -c 1 -W 1 10.77.0.2 && on nsA ping -q -c 1 -W 1 fd77::2
}

# links: create links on x at both ends
links()
{
	wait_for reachable || return
	link_on nsA sr0 && link_on nsB sr1 && objects_before=$(objects)
}

# gids PATTERN: set the indices of matching GIDs
gids()
{
	GID_A=$(gid_index nsA sr0 "$1") && GID_B=$(gid_index nsB sr1 "$1")
}

# talk: run WRITEs and datagrams over IPv4, SENDs over IPv6
talk()
{
	gids '*ffff:0a4d:*' && PEER=10.9.0.2 pair ib_write_bw -s 65536 -n 20 -x "$GID_A" &&
		pingpong ud -n 20 -s 500 || return
	gids 'fd77:*' && pingpong rc -n 20
}

rping_over()
{
	local server

	on nsB bounded cm_program rping -s -a 10.77.0.2 -C 10 -V &
	server=$!
	wait_for cm_listens nsB 10.77.0.2 || return
	on nsA bounded cm_program rping -c -a 10.77.0.2 -C 10 -V && wait "$server"
}

# uses_cm: the RDMA core permits rdma_cm where there are MAC addresses.  It looks for the
# address among those of the route's netdev.
uses_cm()
{
	[ "$(of nsA x type)" = 1 ] && ip -n nsA route get 10.77.0.2 | grep -q 'dev x '
}

no_links()
{
	local left

	left=$(on nsA rdma link show && on nsB rdma link show) && [ -z "$left" ]
}

# ends_with_netdev: deleting x deletes the link, or its GIDs of the link on the lower netdev
ends_with_netdev()
{
	local below

	wait_freed objects_are_back && objects_before='' || return
	below=$(on nsA rdma link show sr0/1 | sed 's/.* netdev \([^ ]*\).*/\1/')
	if [ -n "${wire:-}" ]; then
		unplug
	else
		deleted x x
	fi
	if [ "$below" != x ]; then
		wait_for no_gids || return
		deleted "$below" "${below/veth0/veth1}"
	fi
	wait_for no_links
}

# deleted DEV-A DEV-B: deletion of one end of a veth also deletes the other
deleted()
{
	ip -n nsA link del "$1"
	ip -n nsB link del "$2" 2>"$said"
}

no_gids()
{
	! gid_index nsA sr0 '*ffff:0a4d:*' && ! gid_index nsB sr1 '*ffff:0a4d:*'
}

# unplug: end the program that implements the wire, and so its netdevs
unplug()
{
	[ -n "${wire:-}" ] || return 0
	exec {wire}<&-
	wire=
	pkill -f "lib/tun_wire.py tap"
}

works()
{
	((made == 0)) && links && talk || return
	! uses_cm || rping_over || return
	[ "$1" = wifi ] || ends_with_netdev
}

# on_kind KIND WHAT [TOOL]
on_kind()
{
	[ -z "${3:-}" ] || command -v "$3" >/dev/null || { skip "$2" "no $3 here"; return; }
	hosts && ends "$1" 2>"$said"
	made=$?
	if ((made)) && grep -qE 'Unknown device type|Operation not supported' "$said"; then
		skip "$2" "this kernel has none"
		return
	fi
	cat "$said"
	check "$2" works "$1"
}

# alone: connect a device with itself
alone()
{
	local gid

	addresses nsA 1
	on nsA rdma link add sr0 type "$TYPE" netdev x && has_gids nsA sr0 || return
	gid=$(gid_index nsA sr0 '*ffff:0a4d:*') || return
	PEER=10.77.0.1 by_itself pair ib_write_bw -x "$gid" -n 100
}

on_dummy()
{
	hosts && ip -n nsA link add x type dummy && alone
}

on_lo()
{
	hosts && ip -n nsA link set lo down && ip -n nsA link set lo name x && alone
}

# bond_sends NS PORT: the active one of bond x
bond_sends()
{
	on "$1" grep -qx "Currently Active Slave: $2" /proc/net/bonding/x
}

# bond_may NS PORT: that port of bond x is up
bond_may()
{
	on "$1" grep -A 1 "^Slave Interface: $2" /proc/net/bonding/x | grep -qx 'MII Status: up'
}

# fails_over: both ends use the second port, then the first one again
fails_over()
{
	ip -n nsA link set veth0 down && wait_for bond_sends nsA veth2 &&
		wait_for bond_sends nsB veth3 && arrive || return
	ip -n nsA link set veth0 up && wait_for bond_may nsA veth0 && wait_for bond_may nsB veth1 &&
		ip -n nsB link set veth3 down && wait_for bond_sends nsB veth1 &&
		wait_for bond_sends nsA veth0 && arrive
}

# arrive: data still do
arrive()
{
	local now

	now=$(counter nsB sr1 rcvd_bytes)
	wait_for counter_over nsB sr1 rcvd_bytes $((now + 10000000))
}

on_failing_bond()
{
	local client server status=0

	hosts && ends bond && links && gids '*ffff:0a4d:*' || return
	flow_up ib_write_bw -s 65536 -x "$GID_A" || return
	arrive && fails_over && kill -0 "$client" && kill -0 "$server" &&
		[ "$(counter nsA sr0 local_ack_timeout_err)" -lt 1000 ] || status=1
	flow_down
	return "$status"
}

# refused WHAT LINK-ARGUMENTS...: a netdev of another type, with the reason in the log
refused()
{
	local before

	hosts && ip -n nsA link add x "$@" && ip -n nsA link set x up || return
	before=$(dmesg | grep -c 'srnic: needs an Ethernet device')
	! on nsA rdma link add sr0 type "$TYPE" netdev x || return
	[ "$(dmesg | grep -c 'srnic: needs an Ethernet device')" -gt "$before" ]
}

# A container has a VLAN of a netdev of its host
vlan_of_another_namespace()
{
	hosts && ip -n nsA link add x link veth0 type vlan id 7 &&
		ip -n nsA link set x netns nsB && ip -n nsB link set x up || return
	! on nsB rdma link add sr1 type "$TYPE" netdev x
}

modprobe -q mac80211_hwsim radios=2
[ -e /dev/net/tun ] || modprobe -q tun
ktap_plan 27
on_kind veth		"veth"
on_kind vlan		"VLAN"
on_kind vlan_in_vlan	"VLAN in a VLAN"
on_kind bond		"bond, active-backup"
on_kind bond_of_both	"bond, balance-xor"
on_kind vlan_on_bond	"VLAN on a bond"
on_kind team		"team" teamnl
on_kind bridge		"bridge"
on_kind macvlan		"macvlan"
on_kind ipvlan_l2	"ipvlan, L2"
on_kind ipvlan_l3	"ipvlan, L3"
on_kind vxlan		"VXLAN"
on_kind geneve		"Geneve"
on_kind gretap		"GRE with Ethernet"
on_kind macsec		"MACsec"
on_kind wireguard	"WireGuard" wg
on_kind tap		"TAP"
on_kind netkit_l2	"netkit, L2"
on_kind netkit_l3	"netkit, L3"
if [ -d /sys/class/ieee80211 ]; then
	on_kind wifi	"Wi-Fi" iw
else
	skip "Wi-Fi"	"this kernel has none"
fi
check "dummy"				on_dummy
check "loopback"			on_lo
check "a bond that fails over"	on_failing_bond
check "a VLAN of another namespace is refused" vlan_of_another_namespace
for kind in "ipip local 10.9.0.1 remote 10.9.0.2" "gre local 10.9.0.1 remote 10.9.0.2" vcan; do
	if hosts && ip -n nsA link add x type $kind 2>/dev/null; then
		check "${kind%% *} is refused"	refused type $kind
	else
		skip "${kind%% *} is refused"	"this kernel has none"
	fi
done
ktap_end
