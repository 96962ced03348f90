#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The InfiniBand port counters, in sysfs and by MADs, match the traffic.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip ib_write_bw nft ethtool mckey stdbuf
need_python scapy.contrib.roce pyverbs.qp

here=$(dirname "$0")
before=$(mktemp -d)
names=(
	VL15_dropped excessive_buffer_overrun_errors link_downed
	link_error_recovery local_link_integrity_errors
	multicast_rcv_packets multicast_xmit_packets
	port_rcv_constraint_errors port_rcv_data port_rcv_errors
	port_rcv_packets port_rcv_remote_physical_errors
	port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data
	port_xmit_discards port_xmit_packets port_xmit_wait symbol_error
	unicast_rcv_packets unicast_xmit_packets
)

# values NS DEV: print "NAME VALUE" of counters/, and of "rdma statistic" as stat/NAME.
# The RDMA core has the former in the initial namespace only.
values()
{
	(cd "/sys/class/infiniband/$2/ports/1/counters" && grep -H "" -- *) |
		tr : ' '
	on "$1" rdma statistic show link "$2/1" | grep -oE '[a-z_]+ [0-9]+' |
		sed 's|^|stat/|'
}

complete()
{
	# shellcheck disable=SC2012 # names without blanks
	diff <(printf '%s\n' "${names[@]}" | sort) \
		<(ls /sys/class/infiniband/sr0/ports/1/counters | sort) &&
		! values nsA sr0 | grep -vE '^(stat/)?[A-Za-z0-9_]+ [0-9]+$'
}

# mark: remember the current values
mark()
{
	values nsA sr0 >"$before/sr0" && values nsB sr1 >"$before/sr1" &&
		on nsB cat /sys/class/net/veth1/statistics/rx_bytes \
			>"$before/link" &&
		on nsB nft reset counter inet m roce >/dev/null
}

# grown DEV NAME: print by how much that value has grown since mark
grown()
{
	local ns=nsA

	[ "$1" = sr0 ] || ns=nsB
	awk -v name="$2" '$1 == name { print $2 - first; first = $2 }' \
		"$before/$1" <(values "$ns" "$1") | tail -n 1
}

# grown_by DEV NAME NUMBER
grown_by()
{
	local now

	now=$(grown "$1" "$2")
	[ "$now" -eq "$3" ] || { echo "$2 of $1 has grown by $now, not $3"; return 1; }
}

# grown_to DEV NAME NUMBER
grown_to()
{
	[ "$(grown "$1" "$2")" -ge "$3" ]
}

# watch: have packets arrive one by one, and nsB's firewall count those of RoCE
watch()
{
	wire_end nsA veth0 &&
		on nsB nft -f - <<-EOT
			table inet m {
				counter roce { }
				chain in {
					type filter hook input priority 0;
					udp dport 4791 counter name roce
				}
			}
		EOT
}

# seen packets|bytes: print the RoCE packets or bytes that nsB's firewall has counted, from the
# IP header on
seen()
{
	on nsB nft list counter inet m roce | grep -oE "$1 [0-9]+" |
		cut -d' ' -f2
}

# as_statistic DEV: the values equal those of "rdma statistic"
as_statistic()
{
	local packets way

	for way in rcvd:rcv sent:xmit; do
		packets=$(grown "$1" "stat/${way%:*}_pkts")
		wait_for grown_to "$1" "port_${way#*:}_packets" "$packets" &&
			grown_by "$1" "port_${way#*:}_packets" "$packets" &&
			grown_by "$1" "port_${way#*:}_data" \
				$(($(grown "$1" "stat/${way%:*}_bytes") / 4)) || return
	done
}

# 28 bytes of each packet are IP and UDP, and 14 more Ethernet; the link has some
# more traffic, of TCP.
as_the_wire()
{
	local bytes link packets

	packets=$(seen packets) bytes=$(seen bytes)
	link=$(($(on nsB cat /sys/class/net/veth1/statistics/rx_bytes) -
		$(<"$before/link")))
	echo "$packets packets, $bytes bytes, $link on the link"
	grown_by sr0 port_xmit_packets "$packets" &&
		grown_by sr1 port_rcv_packets "$packets" &&
		grown_by sr0 port_xmit_data $(((bytes - 28 * packets) / 4)) &&
		grown_by sr1 port_rcv_data $(((bytes - 28 * packets) / 4)) &&
		((link >= bytes + 14 * packets)) &&
		((link < bytes + 14 * packets + 65536))
}

# as_the_program BYTES
as_the_program()
{
	local words

	words=$(grown sr1 port_rcv_data)
	echo "$words words"
	((words * 4 >= $1 && words * 4 < $1 * 11 / 10)) &&
		grown_by sr1 unicast_rcv_packets "$(grown sr1 port_rcv_packets)" &&
		grown_by sr0 unicast_xmit_packets "$(grown sr0 port_xmit_packets)"
}

# mcast: send ten datagrams to a group on nsB
mcast()
{
	local log server

	log=$(mktemp)
	on nsB bounded stdbuf -oL mckey -m 239.1.2.3 -b 10.9.0.2 >"$log" &
	server=$!
	wait_for grep -q 'joined dgid' "$log" &&
		on nsA bounded mckey -m 239.1.2.3 -b 10.9.0.1 -s &&
		wait "$server"
}

mcast_counted()
{
	grown_by sr0 multicast_xmit_packets 10 &&
		grown_by sr1 multicast_rcv_packets 10 &&
		grown_by sr1 unicast_rcv_packets \
			$(($(grown sr1 port_rcv_packets) - 10))
}

auto()
{
	on nsA rdma statistic qp set link sr0/1 auto "$@"
}

# Counters of queue pairs have been created and destroyed.
kept()
{
	[ -z "$(on nsA rdma statistic qp show)" ] &&
		(($(grown sr0 port_xmit_packets) >= 100)) && as_statistic sr0
}

downed()
{
	ip -n nsA link set veth0 down && ip -n nsA link set veth0 up &&
		grown_by sr0 link_downed 1
}

ktap_plan 27
check "two hosts"			pair_up
check "all counters exist"		complete
check "packets on the wire are counted"	watch
modprobe -q ib_umad
mark
check "ib_write_bw"			pair ib_write_bw -s 65536 -n 100
check "as in rdma statistic, A"		as_statistic sr0
check "as in rdma statistic, B"		as_statistic sr1
check "as on the wire"			as_the_wire
check "as the program counts"		as_the_program 6553600
mark
check "ten datagrams to a group"	mcast
check "they count as multicasts"		mcast_counted
mark
check "counters of queue pairs"		auto type on
check "ib_write_bw"			pair ib_write_bw -s 4096 -n 100
check "automatic counters are off"	auto off
check "the port keeps their counts"	kept
mark
ktap_relay /usr/bin/python3 "$here/pma.py"
check "the packet with a bad ICRC"	grown_by sr1 port_rcv_errors 1
check "the link was down once"		downed
rm -r "$before"
ktap_end
