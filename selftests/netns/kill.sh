#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs, links, netdevs, namespaces and the module can be removed under traffic; the rest
# keeps working and no object remains.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw

client=
server=

sent()
{
	local now

	now=$(on nsA cat /sys/class/infiniband/sr0/hw_counters/sent_pkts \
		2>/dev/null || counter nsA sr0 sent_pkts)
	[ "${now:-0}" -gt "$1" ]
}

# traffic_on: two hosts, and an endless bandwidth test between them
traffic_on()
{
	pair_down
	pair_up || return
	QP_TIMEOUT=14 flow_up ib_write_bw -s 65536 && wait_for sent 1000
}

# traffic_off: the remaining processes are killed, and no object remains
traffic_off()
{
	flow_down
	no_object_is_left
}

kill_end()
{
	kill -9 "$1"
	wait_for ended "$1" && traffic_off &&
		still_works
}

# still_works: the devices still work
still_works()
{
	[ ! -d /sys/class/infiniband/sr0 ] && return 0
	pair ib_write_bw -n 100
}

link_goes()
{
	on "$1" rdma link del "$2" || return
	objects_before=$(objects)
	flow_down
	! rdma link show | grep -q "link $2/"
}

netdev_goes()
{
	ip -n nsA link del veth0 || return
	wait_for no_link sr0 && wait_for no_link sr1
}

# The tests hold their namespace: it is deleted after they have ended.
netns_goes()
{
	ip netns del nsA || return
	kill -9 "$client"
	wait_for no_link sr0
}

no_link()
{
	! rdma link show | grep -q "link $1/"
}

# module_goes: unloading is refused while links are in use, and succeeds afterwards
module_goes()
{
	modprobe -r "$TYPE" || rmmod "$TYPE"
	flow_down
	on nsA rdma link del sr0
	on nsB rdma link del sr1
	wait_freed rmmod_again && modprobe "$TYPE"
}

rmmod_again()
{
	[ ! -d "/sys/module/$TYPE" ] || rmmod "$TYPE" 2>/dev/null
}

ktap_plan 14
check "traffic"				traffic_on
check "kill -9 of the client"		kill_end "$client"
check "traffic again"			traffic_on
check "kill -9 of the server"		kill_end "$server"
check "traffic again"			traffic_on
check "rdma link del of the client's"	link_goes nsA sr0
check "traffic again"			traffic_on
check "rdma link del of the server's"	link_goes nsB sr1
check "traffic again"			traffic_on
check "the netdev is deleted"		netdev_goes
check "traffic again"			traffic_on
check "the namespace is deleted"	netns_goes
check "traffic again"			traffic_on
check "the module is removed"		module_goes
pair_down
ktap_end
