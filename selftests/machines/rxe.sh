#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic on one machine and the kernel's soft RoCE on the other interoperate, in both roles.
#
#   A: nsA [sr0 srnic] veth0 ======== veth1 [sr1 rxe] nsB: B, then swapped

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ibv_rc_pingpong rping
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"

PROGRAMS=(
	"ib_write_bw -s 65536 -n 50"
	"ib_read_bw -s 65536 -n 50"
	"ib_send_bw -s 65536 -n 50"
	"ib_atomic_bw -n 50"
	"ibv_rc_pingpong -c -s 100001 -n 10"
	"ibv_uc_pingpong -c -s 20000 -n 10"
	"ibv_ud_pingpong -c -s 1000 -n 10"
	"rping -V -S 65000 -C 10"
)

# turned TYPE-A TYPE-B
turned()
{
	TYPE_A=$1 TYPE_B=$2
	pair_up
}

ktap_plan $((2 * (2 + ${#PROGRAMS[@]})))
for types in "srnic rxe" "rxe srnic"; do
	# shellcheck disable=SC2086 # two words
	check "machines with $types"	turned $types
	for program in "${PROGRAMS[@]}"; do
		# shellcheck disable=SC2086 # a tool and its arguments
		check "$types: $program"	program nsA nsB $program
	done
	check "$types: no object is left"	no_object_is_left
	pair_down
done
ktap_end
