#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perftest works over raw Ethernet, on netdevs that carry other traffic and that are removed.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: raw_ethernet_bw, raw_ethernet_lat | perftest
#   | CAP_NET_RAW and a link of type srnic
#   | ``raw_ethernet_bw --client -d srnic0 -B MAC -E MAC-OF-PEER``; on the peer with ``--server``

. "$(dirname "$0")/../lib/netns.sh"

need rdma raw_ethernet_bw raw_ethernet_lat ib_write_bw bridge

client=
server=

mac()
{
	on "$1" cat "/sys/class/net/$2/address"
}

# raw_ready: the server has posted receives, after its flow was created
raw_ready()
{
	on nsB rdma -dd res show qp link sr1/1 |
		grep -q 'type RAW_PACKET .* drv_rq_posted [1-9]'
}

# raw_start TOOL ARGUMENT...: start the server and wait until it is ready
raw_start()
{
	local tool=$1

	shift
	ip netns exec nsB "$tool" --server -d sr1 -F -B "$mac_b" -E "$mac_a" \
		"$@" >/dev/null &
	server=$!
	wait_for raw_ready
}

# raw_end TOOL ARGUMENT...: run the client of that server
raw_end()
{
	local tool=$1

	shift
	if ! on nsA bounded "$tool" --client -d sr0 -F -B "$mac_a" -E "$mac_b" -s 512 "$@" ||
		! wait_for ended "$server"; then
		dismiss
		return 1
	fi
	wait "$server"
}

# raw_run TOOL ARGUMENT...: with no more frames than receives, so that none is dropped
raw_run()
{
	raw_start "$@" -s 512 && raw_end "$@"
}

# admits ADDRESS: veth1 accepts frames to that address besides its own
admits()
{
	bridge -n nsB fdb show dev veth1 | grep -q "^$1 .*self"
}

# other_address: send frames to a unicast address that is not the netdev's
other_address()
{
	local mac_b=02:00:00:00:07:07

	raw_start raw_ethernet_bw -s 512 -n 400 || return
	admits $mac_b && raw_end raw_ethernet_bw -n 400 && ! admits $mac_b
}

alive()
{
	pair ib_write_bw -n 50
}

hosts()
{
	pair_down
	pair_up || return
	mac_a=$(mac nsA veth0) mac_b=$(mac nsB veth1)
}

# traffic: start endless traffic, and a sniffer that receives it
traffic()
{
	raw_start raw_ethernet_bw -s 512 -D 3600 --sniffer || return
	ip netns exec nsA raw_ethernet_bw --client -d sr0 -F -D 3600 -s 512 \
		-B "$mac_a" -E "$mac_b" >/dev/null 2>&1 &
	client=$!
	wait_for counter_over nsB sr1 rdma_recvs 1000
}

no_link()
{
	! rdma link show | grep -q "link $1/"
}

promiscuous()
{
	[[ $(ip -n "$1" -d link show "$2") == *"promiscuity $3"* ]]
}

killed()
{
	wait_for promiscuous nsB veth1 1 || return
	flow_down
	no_object_is_left && promiscuous nsB veth1 0 && alive
}

netdev_goes()
{
	ip -n nsB link del veth1 || return
	wait_for no_link sr0 && wait_for no_link sr1 && flow_down
}

# netdev_moves: move the netdev to another namespace, where no flow takes its frames
netdev_moves()
{
	ip netns add nsC || return
	ip -n nsB link set veth1 netns nsC || return
	wait_for no_link sr1 || return
	promiscuous nsC veth1 0 || return
	flow_down
	ip netns del nsC
}

# link_goes: deleting the link reverts its settings of the netdev, but not the bridge's
link_goes()
{
	on nsB rdma link del sr1 || return
	promiscuous nsB veth1 1 && flow_down
}

bridged()
{
	ip -n nsB link add br0 type bridge && ip -n nsB link set br0 up &&
		ip -n nsB link set veth1 master br0
}

ip4="-j 10.9.0.1 -J 10.9.0.2 -k 100 -K 200"
ip6="--raw_ipv6 -j fd09::1 -J fd09::2 -k 100 -K 200"

ktap_plan 20
check "two hosts"		hosts
for how in "" "$ip4" "$ip4 --tcp" "$ip6"; do
	# shellcheck disable=SC2086 # arguments
	check "frames${how:+, $how}"	raw_run raw_ethernet_bw -n 400 $how
done
check "data in both directions"	raw_run raw_ethernet_lat -n 50
# shellcheck disable=SC2086 # arguments
check "there and back, UDP"	raw_run raw_ethernet_lat -n 50 $ip4
check "to another unicast address"	other_address
check "a sniffer"		traffic
check "the program is killed"	killed
check "the netdev is a bridge port"	bridged
check "data in both directions"	raw_run raw_ethernet_lat -n 50
check "a sniffer"		traffic
check "the link is removed"	link_goes
check "two hosts"		hosts
check "a sniffer"		traffic
check "the netdev moves"	netdev_moves
check "two hosts"		hosts
check "a sniffer"		traffic
check "the netdev is removed"	netdev_goes
pair_down
ktap_end
