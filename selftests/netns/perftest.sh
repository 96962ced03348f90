#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every perftest program of the RC transport runs over IPv4 and IPv6, at both path MTUs,
# and loses no packet on a reliable wire.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
. "$(dirname "$0")/../lib/netns.sh"

tools=(
	"ib_write_bw -s 65536 -n 100"
	"ib_read_bw -s 65536 -n 100"
	"ib_send_bw -s 65536 -n 100 -r 256"
	"ib_atomic_bw -n 200"
	"ib_write_lat -s 8 -n 15"
	"ib_read_lat -s 8 -n 15"
	"ib_send_lat -s 8 -n 15"
	"ib_atomic_lat -n 15"
)

# drops: packets dropped by the netdevs so far
drops()
{
	on nsA cat /sys/class/net/veth0/statistics/tx_dropped
	on nsB cat /sys/class/net/veth1/statistics/tx_dropped
}

# nothing_dropped BEFORE: no packet has been dropped, by a netdev since "drops" printed BEFORE,
# or by a device.  Packets that two processors send may pass each other, so they may arrive out
# of order, and be retransmitted.
nothing_dropped()
{
	local name

	[ "$(drops)" = "$1" ] || return
	for name in rx_icrc_error rx_malformed rx_bad_addr rx_drop_nobuf rx_drop_too_long \
		    tx_drop_nobuf; do
		counter_is nsA sr0 "$name" 0 && counter_is nsB sr1 "$name" 0 || return
	done
}

need rdma ethtool ib_write_bw ibv_rc_pingpong

ktap_plan $((2 * 2 * (${#tools[@]} + 2) + 6))
for mtu in 4200 1500; do
	check "two hosts at MTU $mtu" pair_up $mtu
	before=$(drops)
	for family in "IPv4 *ffff:0a09:*" "IPv6 fd09:*"; do
		read -r name pattern <<<"$family"
		GID_A=$(gid_index nsA sr0 "$pattern")
		GID_B=$(gid_index nsB sr1 "$pattern")
		for tool in "${tools[@]}"; do
			# shellcheck disable=SC2086 # a tool and its arguments
			check "$tool, $name, MTU $mtu" pair $tool -x "$GID_A"
		done
		check "pingpong of 1 byte, $name, MTU $mtu" pingpong rc -c -n 30 -s 1
		check "pingpong of 100001 bytes, $name, MTU $mtu" \
			pingpong rc -c -n 30 -s 100001
	done
	check "no packet was dropped at MTU $mtu" nothing_dropped "$before"
	if on nsA ethtool -k veth0 | grep -q "^tx-gso-list: on"; then
		check "GSO chains arrived whole" counter_over nsB sr1 rx_super_skb 100
	else
		skip "GSO chains arrived whole" "this kernel splits GSO chains for veth"
	fi
	pair_down
done
ktap_end
