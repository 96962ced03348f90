#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The connection manager connects librdmacm's own programs and perftest -R over IPv4 and
# IPv6: between two hosts, through a VLAN and other upper devices, and from a host to
# itself.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#            veth0.7 -------------- veth1.7       10.9.7.0/24
#             veth0                  upper        10.9.8.0/24
#
# run: rping, ucmatose, udaddy, cmtime | rdmacm-utils
#   | module rdma_ucm
#   | ``rping -c -a 10.9.0.2 -C 10 -V``; on the other host ``rping -s``

. "$(dirname "$0")/../lib/netns.sh"

need rdma rping ucmatose udaddy cmtime rstream ib_write_bw

# commands of server and client; ADDR is the server's address
programs=(
	"rping -s -a ADDR -C 10 -V|rping -c -a ADDR -C 10 -V"
	"rping -s -a ADDR -C 3 -V -S 50000|rping -c -a ADDR -C 3 -V -S 50000"
	"ucmatose -b ADDR -c 4 -S 5000|ucmatose -s ADDR -c 4 -S 5000"
	"udaddy -b ADDR -c 4 -S 1000|udaddy -s ADDR -c 4 -S 1000"
	"rstream -b ADDR -S 65536 -C 20 -T v|rstream -s ADDR -S 65536 -C 20 -T v"
	"cmtime -b ADDR -c 50|cmtime -s ADDR -c 50"
)
perftests=(
	"ib_write_bw -R -n 200"
	"ib_send_lat -R -n 15"
	"ib_read_bw -R -n 200 -q 4"
)

# perftest TOOL ARGUMENT...
perftest()
{
	until_accepted connect nsA "$* -d sr1 -F|$* -d sr0 -F ADDR" 10.9.0.2
}

# connect NS PROGRAMS ADDR: run the server on nsB and the client on NS; both succeed
connect()
{
	local client=${2#*|} server server_words=${2%|*}

	# not by on(), since it is killed by its process ID
	# shellcheck disable=SC2086 # commands with arguments
	ip netns exec nsB bounded cm_program ${server_words//ADDR/$3} &
	server=$!
	# shellcheck disable=SC2086
	if ! wait_for cm_listens nsB "$3" ||
		! on "$1" bounded cm_program ${client//ADDR/$3}; then
		dismiss
		return 1
	fi
	# cmtime's server waits for the next client
	[[ $server_words != cmtime* ]] || kill "$server"
	wait "$server" || [[ $server_words == cmtime* ]]
}

vlans_up()
{
	ip -n nsA link add link veth0 name veth0.7 type vlan id 7 &&
		ip -n nsA addr add 10.9.7.1/24 dev veth0.7 &&
		ip -n nsA link set veth0.7 up &&
		ip -n nsB link add link veth1 name veth1.7 type vlan id 7 &&
		ip -n nsB addr add 10.9.7.2/24 dev veth1.7 &&
		ip -n nsB link set veth1.7 up &&
		wait_for has_gid nsA sr0 ffff:0a09:0701 &&
		wait_for has_gid nsB sr1 ffff:0a09:0702
}

# upper_up COMMAND: run COMMAND, which creates an upper device, possibly on a VLAN.  The
# device below does not answer ARP for it, and stale neighbour entries are flushed.
upper_up()
{
	local near=veth0

	[[ $1 != *vlan7 ]] || near=veth0.7
	on nsB sysctl -q net.ipv4.conf.all.arp_ignore=1 \
		net.ipv4.conf.all.arp_announce=2
	"$1" && ip -n nsB link set upper up &&
		ip -n nsB addr add 10.9.8.2/24 dev upper &&
		ip -n nsA addr add 10.9.8.1/24 dev "$near" &&
		ip -n nsA neigh flush dev "$near" || return
	wait_for has_gid nsA sr0 ffff:0a09:0801 &&
		wait_for has_gid nsB sr1 ffff:0a09:0802
}

upper_down()
{
	ip -n nsB link del upper && ip -n nsA addr flush to 10.9.8.1 &&
		wait_for no_gid nsA sr0 ffff:0a09:0801 &&
		wait_for no_gid nsB sr1 ffff:0a09:0802
}

# macvlan [DEV]
macvlan()
{
	ip -n nsB link add upper link "${1:-veth1}" type macvlan mode bridge
}

# bridge [DEV...]
bridge()
{
	local dev

	ip -n nsB link add upper mtu 4200 type bridge || return
	for dev in "${@:-veth1}"; do
		ip -n nsB link set "$dev" master upper || return
	done
}

macvlan_on_vlan7()
{
	macvlan veth1.7
}

bridge_on_vlan7()
{
	bridge veth1.7
}

third_up()
{
	ip link add veth2 netns nsA type veth peer name veth3 netns nsB &&
		on nsB rdma link add sr3 type srnic netdev veth3 &&
		ip -n nsA link set veth2 up && ip -n nsB link set veth3 up
}

# The bridge's address is a GID of both ports' devices.
bridge_of_two_devices()
{
	bridge veth1 veth3
}

# It is also a GID of the bridge's own RDMA device.
bridge_with_a_device()
{
	bridge && on nsB rdma link add sr4 type srnic netdev upper
}

# The bond's other slave has an RDMA device, too, which must not answer.
bond()
{
	local slave

	ip -n nsB link add upper mtu 4200 type bond mode active-backup miimon 10 ||
		return
	for slave in veth3 veth1; do
		ip -n nsB link set "$slave" down &&
			ip -n nsB link set "$slave" master upper || return
	done
	ip -n nsB link set upper type bond primary veth1
}

# A macvlan of the host in a container, which has an RDMA device of its own elsewhere
container()
{
	ip netns add nsC &&
		ip link add veth4 netns nsC type veth peer name veth5 netns nsC &&
		on nsC rdma link add sr4 type srnic netdev veth4 &&
		macvlan && ip -n nsB link set upper netns nsC &&
		ip -n nsC link set upper up &&
		ip -n nsC addr add 10.9.8.2/24 dev upper &&
		ip -n nsA addr add 10.9.8.1/24 dev veth0 &&
		wait_for has_gid nsA sr0 ffff:0a09:0801
}

container_got()
{
	on nsC awk '/^Ip: [0-9]/ { exit !$4 }' /proc/net/snmp
}

# Packets for the container do not reach the host.
kept_apart()
{
	local before client status=0

	before=$(counter nsB sr1 rcvd_pkts)
	(exec ip netns exec nsA bounded rping -c -a 10.9.8.2 -C 1) &
	client=$!
	wait_for container_got || status=1
	kill "$client"
	wait "$client"
	((status == 0)) && counter_is nsB sr1 rcvd_pkts "$before"
}

# has_gid NS DEV TEXT
has_gid()
{
	on "$1" sh -c "cat /sys/class/infiniband/$2/ports/1/gids/*" 2>/dev/null |
		grep -q "$3"
}

no_gid()
{
	! has_gid "$@"
}

# refused: there is no listener, and the peer rejects the connection
refused()
{
	local said

	said=$(on nsA bounded rping -c -a 10.9.0.2 -C 1 2>&1) && return 1
	grep -qi reject <<<"$said"
}

ktap_plan $((2 * ${#programs[@]} + ${#perftests[@]} + 39))
check "two hosts" pair_up
for addr in 10.9.0.2 fd09::2; do
	for program in "${programs[@]}"; do
		check "${program#*|}, $addr" connect nsA "$program" "$addr"
	done
done
for tool in "${perftests[@]}"; do
	# shellcheck disable=SC2086 # a tool and its arguments
	check "$tool" perftest $tool
done
check "the host itself, 10.9.0.2"	connect nsB "${programs[0]}" 10.9.0.2
check "the host itself, fd09::2"	connect nsB "${programs[0]}" fd09::2
check "a VLAN on both"			vlans_up
check "rping through the VLAN"		connect nsA "${programs[0]}" 10.9.7.2
check "udaddy through the VLAN"		connect nsA "${programs[3]}" 10.9.7.2
check "a port without a listener"	refused
check "a macvlan in a container"	container
check "packets for it do not reach the host"	kept_apart
ip netns del nsC
ip -n nsA addr del 10.9.8.1/24 dev veth0
wait_for no_gid nsA sr0 ffff:0a09:0801
check "a third device"			third_up
for kind in macvlan bridge macvlan_on_vlan7 bridge_on_vlan7 \
	bridge_of_two_devices bridge_with_a_device bond; do
	check "a ${kind//_/ }"		upper_up "$kind"
	check "rping to it"		connect nsA "${programs[0]}" 10.9.8.2
	check "udaddy to it"		connect nsA "${programs[3]}" 10.9.8.2
	check "the upper device is deleted" upper_down
done
ip -n nsA link del veth2 2>/dev/null
check "no datagram was refused"		counter_is nsB sr1 rx_bad_qkey 0
ktap_end
