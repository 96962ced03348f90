#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hostile packets affect only the connections whose peer they could come from.
#
#   nsA [sr0] tap0 ==(this program)== tap1 [sr1] nsB
#   nsA [sr0] veth0 ================= veth1 [sr1] nsB
#
# Packets are forged for live queue pairs of all types in all states, beginning with valid
# ones: addresses, QP numbers, current PSNs, keys, ICRC.  Then bits, fields, lengths,
# fragments, options and virtio headers are mutated, see packets/mutate.c.
#
# RoCEv2 has no authentication: a sender that knows these numbers cannot be told from the
# peer.  Victims may therefore fail, and memory with remote access may be overwritten.  Each
# of their work requests must complete once and in order, nothing else may complete, and no
# byte may change outside that memory.  Guarded queue pairs receive only packets that the
# protocol refuses; they verify every byte, and all of their work requests must succeed.
# In the end all queue pairs work, and the kernel has freed its memory.

# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/hunt.sh"

# wire_taps: create both hosts, each with a tap
wire_taps()
{
	local i ns

	pair_down
	for i in 0 1; do
		ns=nsA
		((i == 0)) || ns=nsB
		host_new "$ns" srnic || return
		ip -n "$ns" tuntap add dev "tap$i" mode tap vnet_hdr || return
		ip -n "$ns" link set "tap$i" mtu 1500
		host_up "$ns" "tap$i" "sr$i" $((i + 1)) srnic || return
	done
	hosts_settle tap0 tap1 || return
	wait_for gids_there nsA sr0 && wait_for gids_there nsB sr1 || return
	objects_before=$(objects)
}

# gids_there NS DEV: a tap has no carrier until the program opens it
gids_there()
{
	local gids

	gids=$(on "$1" sh -c "cat /sys/class/infiniband/$2/ports/1/gids/?" 2>/dev/null)
	[[ $gids == *ffff:0a09:* && $gids == *fd09:* ]]
}

# wire_veth: create both hosts with a veth pair and GRO, so that packets are merged
wire_veth()
{
	local dev ns

	pair_up 4200 && hosts_settle veth0 veth1 || return
	for dev in nsA/veth0 nsB/veth1; do
		ns=${dev%/*} dev=${dev#*/}
		on "$ns" ethtool -K "$dev" gro on rx-gro-list on >/dev/null &&
			on "$ns" tc qdisc add dev "$dev" root netem delay 1ms || return
	done
}

# hosts_settle NETDEV-A NETDEV-B: static neighbours, since the wire may not work yet, and a
# short timeout for incomplete IP datagrams
hosts_settle()
{
	local mac_a mac_b ns

	mac_a=$(on nsA cat "/sys/class/net/$1/address") &&
		mac_b=$(on nsB cat "/sys/class/net/$2/address") || return
	ip -n nsA neigh replace 10.9.0.2 lladdr "$mac_b" dev "$1" &&
		ip -n nsA neigh replace fd09::2 lladdr "$mac_b" dev "$1" &&
		ip -n nsB neigh replace 10.9.0.1 lladdr "$mac_a" dev "$2" &&
		ip -n nsB neigh replace fd09::1 lladdr "$mac_a" dev "$2" || return
	for ns in nsA nsB; do
		on "$ns" sysctl -qw net.ipv4.ipfrag_time=1 net.ipv6.ip6frag_time=1
	done
}

# packets ARGUMENT...: show its output even if it succeeds
packets()
{
	local status=0

	"${hunt_dir:?}/packets" -s "$SEED" "$@" >"$dir/out" || status=$?
	sed -n 's/^# /# /p' "$dir/out" >&3
	cat "$dir/out"
	return "$status"
}

# storm PACKETS [ARGUMENT...]
storm()
{
	packets -n "$@" packets
}

# shrink: empty KASAN's quarantine
shrink()
{
	local cache

	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done 2>/dev/null
	echo 3 >/proc/sys/vm/drop_caches
}

slab_kb()
{
	shrink
	awk '/^SUnreclaim/ { print $2 }' /proc/meminfo
}

# no_fragments: no incomplete IP datagram is left
no_fragments()
{
	! on "$1" cat /proc/net/sockstat /proc/net/sockstat6 |
		grep FRAG | grep -qv 'inuse 0 memory 0'
}

# KASAN and kmemleak use memory that grows with peak usage.
memory_is_back()
{
	wait_freed no_fragments nsA && wait_freed no_fragments nsB || return
	wait_freed slab_below $((slab_before + $(hunt_num 2048 8192))) && return
	echo "unreclaimable: $slab_before KiB before, $(slab_kb) KiB now"
	return 1
}

slab_below()
{
	(($(slab_kb) < $1))
}

need ethtool gcc make rdma tc
dir=$(mktemp -d)
hunt_make
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
exec 3>&1

ktap_plan 9
hunt_seed
check "two hosts with taps"			wire_taps
check "sequences found by earlier storms"	packets drill
check "the first packets"			storm 2000
slab_before=$(slab_kb)
check "packets over IPv4"			storm "$(hunt_num 8000 5000000)"
check "packets over IPv6"			storm "$(hunt_num 4000 2500000)" -6
check "memory is freed"				memory_is_back
check "two hosts with a veth pair"			wire_veth
check "packets through packet sockets"		storm "$(hunt_num 4000 2500000)"
check "memory is freed once more"		memory_is_back
rm -rf "$dir"
ktap_end
