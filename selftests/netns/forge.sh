#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where there is a link, users without CAP_NET_RAW cannot send to the RoCE port by their own
# sockets, and so cannot forge packets of others.  Kernel drivers and privileged users can.
#
#   nsC veth5 ==== veth4 nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/recipe.sh"

need rdma nft ib_write_bw ibv_rc_pingpong
need_python scapy.contrib.roce pyverbs.qp

trap 'ip netns del nsC 2>/dev/null; pair_down' EXIT

link_again()
{
	on nsA rdma link add sr0 type "$TYPE" netdev veth0 && wait_for gid_ready nsA sr0
}

container_up()
{
	ip netns add nsC &&
		ip link add veth4 netns nsA type veth peer name veth5 netns nsC &&
		ip -n nsA addr add 10.7.0.1/24 dev veth4 && ip -n nsA link set veth4 up &&
		ip -n nsC addr add 10.7.0.2/24 dev veth5 && ip -n nsC link set veth5 up &&
		ip -n nsA addr add fd07::1/64 dev veth4 nodad &&
		ip -n nsC addr add fd07::2/64 dev veth5 nodad &&
		ip -n nsC route add default via 10.7.0.1 &&
		on nsA sysctl -q net.ipv4.ip_forward=1
}

# What nsA sends to the container is sealed by IPsec, in UDP.
sealed_cases()
{
	if ip xfrm policy >/dev/null 2>&1; then
		cases nsB sealed4 sealed6
		on nsA ip xfrm policy flush
	else
		skip "IPsec in IPv4"	"this kernel has no IPsec"
		skip "IPsec in IPv6"	"this kernel has no IPsec"
	fi
}

vrf_case()
{
	if modprobe -q vrf; then
		cases nsB vrf
	else
		skip "a VRF"	"this kernel has none"
	fi
}

# The packets of the container leave nsA with the address of that.
masquerade()
{
	on nsA nft -f - <<-EOT
		table ip translate {
			chain leaving {
				type nat hook postrouting priority srcnat
				oifname veth0 masquerade
			}
		}
	EOT
}

# The rule of the recipe is tried where the kernel can masquerade.
container_cases()
{
	if modprobe -q -a nft_chain_nat nft_masq; then
		check "the container's packets look like those of nsA"	masquerade
		cases nsB container
		check "recipe: forward"			recipe forward nsA DEV=veth4
		cases nsB container_dropped
	else
		for _ in {1..4}; do
			skip "a container that nsA masquerades"	"this kernel has no NAT"
		done
	fi
}

# rxe_up NS DEV LINK: before a link of srnic comes, which can do without the port's socket
rxe_up()
{
	on "$1" rdma link add "$3" type rxe netdev "$2" &&
		wait_for gid_index "$1" "$3" '*ffff:0a07:*'
}

rxe_pingpong()
{
	local server

	on nsC bounded ibv_rc_pingpong -d rx2 -g "$(gid_index nsC rx2 '*ffff:0a07:*')" &
	server=$!
	wait_for listening nsC 18515 || return
	on nsA bounded ibv_rc_pingpong -d rx0 -g "$(gid_index nsA rx0 '*ffff:0a07:*')" 10.7.0.2 &&
		wait "$server"
}

# rdma_rxe before 7.0 receives only in the initial namespace.
has_rxe()
{
	kernel_since 7.0 && modprobe -q rdma_rxe
}

# with_rxe NAME COMMAND...: a check that needs rdma_rxe
with_rxe()
{
	if has_rxe; then
		check "$@"
	else
		skip "$1"	"no rdma_rxe in namespaces"
	fi
}

ktap_plan 28
check "two hosts"			pair_up
check "a container"			container_up
cases nsB users4 users6 ways4 ways6 mapped others4 others6
sealed_cases
vrf_case
check "traffic"				pair ib_write_bw -n 100
check "it is not concerned"		counter_is nsB sr1 tx_drop_unprivileged 0
check "no link"				on nsA rdma link del sr0
cases nsB delivered4 delivered6
with_rxe "a link of rdma_rxe, A"	rxe_up nsA veth4 rx0
with_rxe "a link of rdma_rxe, C"	rxe_up nsC veth5 rx2
check "a link beside it"		link_again
cases nsB users4
with_rxe "traffic of rdma_rxe"		rxe_pingpong
with_rxe "only the link of srnic"	on nsA rdma link del rx0
container_cases
check "traffic goes on"			pair ib_write_bw -n 100
ktap_end
