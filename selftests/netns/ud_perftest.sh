#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perftest runs with datagrams over IPv4 and IPv6, at both MTUs.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_send_bw ib_send_lat ibv_ud_pingpong

ktap_plan $((2 * (1 + 2 * 6 + 1)))
for mtu in 4200 1500; do
	check "two hosts at MTU $mtu" pair_up $mtu
	size=4096
	((mtu > 4096)) || size=1024
	for family in "IPv4 *ffff:0a09:*" "IPv6 fd09:*"; do
		read -r name pattern <<<"$family"
		GID_A=$(gid_index nsA sr0 "$pattern")
		GID_B=$(gid_index nsB sr1 "$pattern")
		for tool in "ib_send_bw -s $size -r 512 -n 320" \
			"ib_send_bw -s 64 -r 512 -l 16 -n 320" \
			"ib_send_lat -s 8 -n 15" "ib_send_lat -s $size -n 15" \
			"ib_send_lat -s 64 -I 64 -n 15"; do
			# shellcheck disable=SC2086 # a tool and its arguments
			check "$tool, $name, MTU $mtu" \
				pair $tool -c UD -x "$GID_A"
		done
		check "pingpong, $name, MTU $mtu" pingpong ud -n 30 -s $size
	done
	check "no datagram was lost at MTU $mtu" \
		counter_is nsB sr1 out_of_buffer 0
	pair_down
done
ktap_end
