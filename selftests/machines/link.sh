#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links are created and deleted on one machine: the other one gets an error in time, and can
# connect again.
#
#   A: nsA [sr0] veth0 ======== veth1 [sr1] nsB: B
# shellcheck disable=SC2154 # machines.sh sets it

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ibv_rc_pingpong rping

out=$(mktemp)
trap 'rm -f "$out"; pair_down' EXIT

talk()
{
	program "$1" "$2" ibv_rc_pingpong -n 10
}

# link_up NS DEV
link_up()
{
	on "$1" rdma link add "${link_of[$1]}" type "$TYPE" netdev "$2" &&
		wait_for gid_ready "$1" "${link_of[$1]}"
}

# again NS DEV: five times, each with a connection
again()
{
	local i

	for i in 1 2 3 4 5; do
		on "$1" rdma link del "${link_of[$1]}" && link_up "$1" "$2" &&
			talk nsA nsB || return
	done
}

# stop: end the remaining processes of a program on both machines
stop()
{
	pkill -9 "$1"
	there pkill -9 "$1"
	wait
	true
}

sent()
{
	[ "$(counter nsA sr0 sent_pkts)" -gt 1000 ]
}

# link_goes: the link is deleted, and the client on A gets RETRY_EXC
link_goes()
{
	local QP_TIMEOUT=18 client status=0

	server nsB ib_write_bw -D 3600 || return
	client nsA nsB ib_write_bw -D 3600 >"$out" 2>&1 &
	client=$!
	wait_for sent && there rdma link del sr1 && wait_for ended "$client" ||
		status=$?
	cat "$out"
	stop ib_write_bw
	((status == 0)) && grep 'status 12' "$out"
}

module_goes()
{
	there rdma link del sr1
	there rmmod srnic && there modprobe srnic && link_up nsB veth1 && talk nsA nsB
}

link_renamed()
{
	there rdma dev set sr1 name srz && talk_to srz && there rdma dev set srz name sr1
}

talk_to()
{
	local -A link_of=([nsA]=sr0 [nsB]=$1)

	talk nsA nsB
}

# address_moves: B has one more address, by which A reaches it
address_moves()
{
	there ip addr add 10.9.0.77/24 dev veth1 &&
		wait_for has_gid ffff:0a09:004d || return
	address_of[nsB]=10.9.0.77
	program nsA nsB rping -C 10 || return
	address_of[nsB]=10.9.0.2
	there ip addr del 10.9.0.77/24 dev veth1
}

has_gid()
{
	there sh -c 'cat /sys/class/infiniband/sr1/ports/1/gids/*' 2>/dev/null | grep -q "$1"
}

# netdev_down_and_up: the other host gets no event, and no answers while the netdev is down
netdev_down_and_up()
{
	there ip link set veth1 down && wait_for sr1_is DOWN &&
		there ip link set veth1 up && wait_for sr1_is ACTIVE &&
		there ip addr replace fd09::2/64 dev veth1 nodad &&
		wait_for gid_ready nsB sr1 && talk nsA nsB
}

sr1_is()
{
	there rdma link show sr1/1 | grep -q "state $1"
}

opens_once()
{
	[[ $(readlink /sys/class/net/veth0/device/driver) == *uml-vector ]]
}

ktap_plan 9
check "two machines"				pair_up
check "five deletions and creations on B"	again nsB veth1
check "five deletions and creations on A"	again nsA veth0
check "a link of another name"			link_renamed
check "another address of B"			address_moves
check "B's link is deleted under traffic"	link_goes
check "it comes back"				link_up nsB veth1
check "the module of B is removed and loaded"	module_goes
if opens_once; then
	skip "B's netdev goes down and up" "this netdev cannot"
else
	check "B's netdev goes down and up"	netdev_down_and_up
fi
ktap_end
