#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A netdev whose address a connected queue pair uses can be deleted, and the queue pair
# fails at once.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#             veth0.7, mac7, bond7

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ibv_rc_pingpong python3

out=$(mktemp)
trap 'rm -f "$out"; pair_down' EXIT

vlan()
{
	ip -n nsA link add veth0.7 link veth0 type vlan id 7 &&
		ip -n nsB link add veth1.7 link veth1 type vlan id 7 &&
		ip -n nsB link set veth1.7 up || return
	path_up veth0.7 veth1.7
}

macvlan()
{
	ip -n nsA link add mac7 link veth0 type macvlan mode bridge || return
	path_up mac7 veth1
}

bond()
{
	ip -n nsA link add bond7 type bond mode active-backup miimon 10 &&
		ip -n nsA link set veth0 down &&
		ip -n nsA link set veth0 master bond7 || return
	path_up bond7 veth1
}

# path_up DEV PEER: assign both an address in a separate network
path_up()
{
	ip -n nsA link set "$1" up &&
		ip -n nsA addr add 10.77.0.1/24 dev "$1" &&
		ip -n nsB addr add 10.77.0.2/24 dev "$2" || return
	wait_for path_ready
}

# has_path NS DEV: one of the GIDs is in that network
has_path()
{
	on "$1" sh -c "cat /sys/class/infiniband/$2/ports/1/gids/*" 2>/dev/null |
		grep -q ffff:0a4d:
}

path_ready()
{
	has_path nsA sr0 && has_path nsB sr1
}

path_down()
{
	ip -n nsA link del "$1"
	ip -n nsB link del veth1.7
	ip -n nsB addr del 10.77.0.2/24 dev veth1
	wait_for no_path
} 2>/dev/null

no_path()
{
	! has_path nsA sr0 && ! has_path nsB sr1
}

# client_in STATE: the queue pair of the client is in that state
client_in()
{
	on nsA rdma res show qp link sr0/1 | grep -q "type RC state $1 .*pingpong"
}

# talk: start a pingpong over the path and stop both ends in the middle of it.  They are
# started without "on", so that $! is their process ID.
talk()
{
	local a b

	a=$(gid_index nsA sr0 '*ffff:0a4d:0001') &&
		b=$(gid_index nsB sr1 '*ffff:0a4d:0002') || return
	ip netns exec nsB ibv_rc_pingpong -d sr1 -g "$b" -n 100000000 \
		>/dev/null 2>&1 &
	server=$!
	wait_for listening nsB 18515 || return
	ip netns exec nsA ibv_rc_pingpong -d sr0 -g "$a" -n 100000000 10.77.0.2 \
		>"$out" 2>&1 &
	client=$!
	wait_for client_in RTS && kill -STOP "$client" "$server"
}

explained()
{
	why_is 'path gone: The network device of the path was removed, or moved to another network namespace.'
}

# why_is SENTENCE: srnic-doctor says that about the queue pair of the client
why_is()
{
	local qpn said

	qpn=$(on nsA rdma res show qp link sr0/1 |
		sed -n 's/.* lqpn \([0-9]*\) .* state ERR .*pingpong.*/\1/p')
	said=$(on nsA srnic-doctor --terse --dev sr0 --qp "$qpn")
	[ "$said" = "$1" ] || { echo "srnic-doctor says: $said"; return 1; }
}

# flushed: the client continues and finds its queue pair in the error state
flushed()
{
	client_in ERR && explained && kill -CONT "$client" && wait_for ended "$client" &&
		grep -q 'Work Request Flushed Error' "$out"
}

# ends COMMAND...: it completes in time, while the pingpong is running
ends()
{
	local pid status=0

	"$@" &
	pid=$!
	wait_for ended "$pid" || { status=1; flow_down; }
	wait "$pid" && return "$status"
}

# leaves COMMAND...: it completes although the queue pair exists, which then fails
leaves()
{
	local status=0

	{ talk && ends "$@" && flushed; } || status=1
	flow_down
	return "$status"
}

# over KIND DEV: delete the netdev of that type under a queue pair
over()
{
	"$1" && leaves ip -n nsA link del "$2" && path_down "$2"
}

moved()
{
	macvlan && leaves ip -n nsA link set mac7 netns nsB || return
	ip -n nsB link del mac7
	path_down mac7
}

ktap_plan 5
check "two hosts"			pair_up
check "a VLAN is deleted"		over vlan veth0.7
check "a macvlan is deleted"		over macvlan mac7
check "a macvlan moves to another namespace" moved
check "a bond is deleted"		over bond bond7
pair_down
ktap_end
