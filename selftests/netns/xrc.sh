#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that use the XRC transport run.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

tools=(
	"ib_send_bw -s 65536 -n 200 -r 512"
	"ib_send_lat -s 8 -n 15"
	"ib_write_bw -s 65536 -n 200"
	"ib_read_bw -s 65536 -n 200"
	"ib_atomic_bw -n 200"
	"ib_write_lat -s 8 -n 15"
	"ib_read_lat -s 8 -n 15"
)

need rdma ibv_xsrq_pingpong ib_write_bw

ktap_plan $((5 + ${#tools[@]}))
check "two hosts"			pair_up
check "pingpong, 4 KiB"			pingpong xsrq -n 30
check "pingpong, 64 KiB"		pingpong xsrq -n 30 -s 65536
check "pingpong by events"		pingpong xsrq -n 500 -e
check "pingpong, small path MTU"	pingpong xsrq -n 30 -m 256 -s 10000
for tool in "${tools[@]}"; do
	# shellcheck disable=SC2086 # a tool and its arguments
	check "$tool" pair $tool -c XRC
done
ktap_end
