#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that use the UC transport run.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

tools=(
	"ib_write_bw -s 65536 -n 200"
	"ib_send_bw -s 4096 -n 200 -r 512"
	"ib_write_lat -s 8 -n 15"
	"ib_send_lat -s 8 -n 15"
)

need rdma ibv_uc_pingpong ib_write_bw

ktap_plan $((6 + ${#tools[@]}))
check "two hosts"			pair_up
check "pingpong, 4 KiB"			pingpong uc -c -n 30
check "pingpong, 64 KiB"		pingpong uc -c -n 30 -s 65536
check "pingpong by events"		pingpong uc -c -n 500 -e
check "pingpong, small path MTU"	pingpong uc -c -n 30 -m 256 -s 10000
for tool in "${tools[@]}"; do
	# shellcheck disable=SC2086 # a tool and its arguments
	check "$tool" pair $tool -c UC
done
check "no packet was lost"	counter_is nsB sr1 out_of_seq_request 0
ktap_end
