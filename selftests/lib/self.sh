# SPDX-License-Identifier: GPL-2.0
# srnic selftests - two devices of one host with a wire between; source it after
# netns.sh, of which it takes the names
#
#   self_up      sr0 on veth0 and sr1 on veth1, both in the initial namespace,
#                where some kernel consumers of RDMA live
#   know_each_other          what sr1's end loses with its wire, see wire.sh
#
# Packets between two addresses of a host do not leave it unless routing rules say otherwise:
# an address is local for packets that arrive by the wire, and has a route over the wire for
# outgoing ones.
# shellcheck shell=bash

. "${BASH_SOURCE[0]%/*}/pool.sh"
. "${BASH_SOURCE[0]%/*}/wire.sh"

self_rules=(
	"priority 1 iif veth0 lookup local"
	"priority 1 iif veth1 lookup local"
	"priority 2 to 10.9.0.2 lookup 902"
	"priority 2 to 10.9.0.1 lookup 901"
	"priority 3 lookup local"
)

# self_rule add|del
self_rule()
{
	local rule

	for rule in "${self_rules[@]}"; do
		# shellcheck disable=SC2086 # the words of a rule
		ip rule "$1" $rule || return
	done
}

# self_route DEV ADDRESS TABLE PEER TO: with a static neighbour entry, since the RDMA core
# waits 3 seconds if ARP is answered at once
self_route()
{
	local mac

	mac=$(<"/sys/class/net/$4/address")
	sysctl -qw "net.ipv4.conf.$1.accept_local=1" \
		"net.ipv4.conf.$1.rp_filter=0" &&
		ip route add "$5" dev "$1" src "$2" table "$3" &&
		ip neigh replace "$5" lladdr "$mac" dev "$1"
}

know_each_other()
{
	self_route veth1 10.9.0.2 901 veth0 10.9.0.1
}

self_up()
{
	self_down
	ip netns attach nsA 1 && ip netns attach nsB 1 || return
	ip link add veth0 mtu 4200 type veth peer name veth1 mtu 4200 || return
	host_up nsA veth0 sr0 1 "$TYPE_A" && host_up nsB veth1 sr1 2 "$TYPE_B" ||
		return
	sysctl -qw net.ipv4.conf.all.rp_filter=0
	self_route veth0 10.9.0.1 902 veth1 10.9.0.2 && know_each_other || return
	self_rule add && ip rule del priority 0 || return
	wait_for gid_ready nsA sr0 && wait_for gid_ready nsB sr1 || return
	objects_before=$(objects)
}

self_down()
{
	if [ -z "$(ip rule list priority 0)" ]; then
		ip rule add priority 0 lookup local
		self_rule del
	fi
	pair_down
} 2>/dev/null
