#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link of type srnic_rxe has the driver ID of rdma_rxe but is not mistaken for one of its
# links: rdma_rxe can be loaded and used at the same time, netdevs can come and go, and links
# that are deleted when rdma_rxe is unloaded end with an error to their users.
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB
#   nsC [rx0 rxe]       dummy0
#
# rdma_rxe has a namespace of its own, for it refuses one whose UDP port is in use.

. "$(dirname "$0")/../lib/stock.sh"

need rdma ibv_rc_pingpong ib_write_bw
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"

# rdma_rxe handles the events of all netdevs.
netdev_events()
{
	local _

	for _ in 1 2 3; do
		ip -n nsA -batch - <<-EOT || return
			link set veth0 mtu 1500
			link set veth0 down
			link set veth0 name other0
			link set other0 name veth0
			link set veth0 mtu 4200
			link set veth0 up
			addr replace fd09::1/64 dev veth0 nodad
		EOT
	done
	wait_for gid_ready nsA sr0
}

other_link()
{
	ip netns add nsC && ip -n nsC link add dummy0 type dummy &&
		ip -n nsC link set dummy0 up &&
		on nsC rdma link add rx0 type rxe netdev dummy0 &&
		on nsC ibv_devinfo -d rx0
}

other_link_is_there()
{
	on nsC rdma link show rx0/1
}

other_link_ends()
{
	ip -n nsC link del dummy0 && wait_for eval '! other_link_is_there'
	local status=$?

	ip netns del nsC
	return "$status"
}

# A second device on the netdev of the first, by either driver
second_is_refused()
{
	! on nsA rdma link add rx1 type srnic netdev veth0 &&
		! on nsA rdma link add rx1 type srnic_rxe netdev veth0
}

# A second device on the netdev of an rdma_rxe link
second_beside_rxe_is_refused()
{
	! on nsC rdma link add rx1 type srnic netdev dummy0 &&
		! on nsC rdma link add rx1 type srnic_rxe netdev dummy0
}

links_are_gone()
{
	! on nsA rdma link show sr0/1 && ! on nsB rdma link show sr1/1
} 2>/dev/null

traffic()
{
	pair ib_write_bw -n 500
}

# gave_up PID: that program saw an error, and did not hang
gave_up()
{
	local status=0

	wait "$1" || status=$?
	((status != 0 && status != 124)) || { echo "a program returned $status"; return 1; }
}

# The links are deleted while their users have work requests in flight.
unload_under_traffic()
{
	local before client server status=0

	before=$(counter nsB sr1 rx_super_skb) || return
	on nsB bounded ib_write_bw -d sr1 -F -D 3600 >/dev/null 2>&1 &
	server=$!
	wait_for listening nsB 18515 || return
	on nsA bounded ib_write_bw -d sr0 -F -D 3600 10.9.0.2 &
	client=$!
	wait_for counter_over nsB sr1 rx_super_skb $((before + 50)) || status=1
	modprobe -r rdma_rxe || status=1
	gave_up "$client" && gave_up "$server" || status=1
	wait_for links_are_gone || status=1
	return "$status"
}

module_unloads()
{
	wait_freed modprobe -r srnic && ! lsmod | grep -q '^srnic ' && modprobe srnic
}

# Links of both srnic types are deleted with the module, those of rdma_rxe stay.
module_takes_only_its_own()
{
	modprobe rdma_rxe && pair_up && other_link &&
		wait_freed modprobe -r srnic &&
		links_are_gone && other_link_is_there
}

ktap_plan 16
check "two hosts"				pair_up
check "a link of rdma_rxe beside it"		other_link
check "both work when netdevs change"	netdev_events
check "traffic"					traffic
check "one device for each netdev"		second_is_refused
check "no second one beside that of rdma_rxe"		second_beside_rxe_is_refused
check "the netdev of rdma_rxe goes"		other_link_ends
check "traffic goes on"				traffic
check "rdma_rxe is unloaded under traffic"	unload_under_traffic
check "new links"				pair_up
check "carry traffic"				traffic
pair_down
check "srnic is unloaded and loaded again"	module_unloads
check "srnic is unloaded with links"		module_takes_only_its_own
pair_down
check "rdma_rxe has kept its link"		other_link_ends
modprobe srnic
check "links once more"				pair_up
check "carry traffic once more"			traffic
ktap_end
