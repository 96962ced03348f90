#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two kernels communicate, each as the client of the other: RC, UC and UD, over IPv4 and IPv6,
# with and without rdma_cm.
#
#   A: nsA [sr0] veth0 ======== veth1 [sr1] nsB: B

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ibv_rc_pingpong rping

PROGRAMS=(
	"ib_write_bw -s 65536 -n 100"
	"ib_read_bw -s 65536 -n 100"
	"ib_send_bw -s 65536 -n 100"
	"ib_atomic_bw -n 100"
	"ib_write_lat -s 8 -n 50"
	"ibv_rc_pingpong -c -s 100001 -n 30"
	"ibv_uc_pingpong -c -s 20000 -n 30"
	"ibv_ud_pingpong -c -s 1000 -n 30"
	"rping -V -S 65000 -C 30"
)

ktap_plan $((1 + 2 * ${#PROGRAMS[@]} + 2))
check "two machines"	pair_up "${MTU:-4200}"
for ends in "nsA nsB" "nsB nsA"; do
	for program in "${PROGRAMS[@]}"; do
		# shellcheck disable=SC2086 # two hosts, a tool and its arguments
		check "from $ends: $program"	program $ends $program
	done
done
FAMILY=6
check "by IPv6: ib_write_bw"	program nsA nsB ib_write_bw -s 65536 -n 100
check "by IPv6: rping"		program nsB nsA rping -V -S 65000 -C 30
ktap_end
