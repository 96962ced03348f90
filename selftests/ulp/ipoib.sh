#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IP over InfiniBand refuses RoCE: loaded while data flow, it creates no netdev and no object on
# the devices, and is unloaded again.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: IP over InfiniBand | linux
#   | InfiniBand; it refuses RoCE, where the netdev below the device carries IP
#   | ``modprobe ib_ipoib`` creates no netdev

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw
modinfo ib_ipoib >/dev/null 2>&1 || skip_all "no ib_ipoib"
! grep -q '^ib_ipoib ' /proc/modules || skip_all "IP over InfiniBand is in use here"

# netdevs_of_ib: print netdevs of that type, in all namespaces
netdevs_of_ib()
{
	local ns

	for ns in nsA nsB; do
		on "$ns" bash -c 'grep -lx 32 /sys/class/net/*/type'
	done | grep . || grep -lx 32 /sys/class/net/*/type	# ARPHRD_INFINIBAND
}

flows()
{
	flow_up ib_write_bw && wait_for counter_over nsB sr1 rcvd_pkts 1000
}

same_objects()
{
	[ "$(objects)" = "$before" ] || { printf '%s\nnow:\n%s\n' "$before" "$(objects)"; return 1; }
}

all_down()
{
	flow_down
	modprobe -r ib_ipoib
	pair_down
} >/dev/null 2>&1

trap all_down EXIT

ktap_plan 7
check "two hosts"			pair_up
check "data flow"			flows
before=$(objects)
check "it is loaded"			modprobe ib_ipoib
check "there is no netdev of its"	fails netdevs_of_ib
check "nor an object"			same_objects
check "it is unloaded"			bounded modprobe -r ib_ipoib
flow_down
check "data flow afterwards"		pair ib_write_bw -n 200
ktap_end
