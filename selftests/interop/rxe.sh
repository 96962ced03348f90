#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic and the kernel's soft RoCE interoperate, in both roles.
#
#   nsA [sr0 srnic] veth0 ================ veth1 [sr1 rxe] nsB, then turned round

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"
vrb_make

# rxe does not report all local errors and events that other cases expect, so only data,
# refused requests and retries are tested
CASES=("data: SEND of every size and shape"
	"data: SEND with immediate of every size and shape"
	"data: WRITE of every size and shape"
	"data: WRITE with immediate of every size and shape"
	"data: READ of every size and shape"
	"data: CMP_SWP and FETCH_ADD compute and return"
	"data: inline data of every length"
	"data: a fence waits for the read"
	"data: 64 reads, one at a time"
	"data: 64 reads, four at a time"
	"soak: batches of everything, both ways"
	"access: WRITE with a bad rkey"
	"access: READ with a bad rkey"
	"access: FETCH_ADD with a bad rkey"
	"access: WRITE over the end"
	"access: READ without REMOTE_READ"
	"retry: RNR, then a receive"
	"srq: SEND of each size, through four queue pairs"
	"srq: WRITE with immediate takes a receive"
	"uc: SEND of each size"
	"uc: WRITE of each size, with and without immediate"
	"atomic write: by ibv_wr_atomic_write"
	"mw: type 2 shows its range"
	"mw: type 2 is not for another QP"
	"mw: LOCAL_INV ends a window")

# turned TYPE-A TYPE-B
turned()
{
	TYPE_A=$1 TYPE_B=$2
	pair_up
}

ktap_plan $((2 * (4 + ${#CASES[@]})))
for types in "srnic rxe" "rxe srnic"; do
	# shellcheck disable=SC2086 # two words
	check "a pair of $types"	turned $types
	# rxe before 7.0 raises no event for what its peer did
	events=() on_demand=requester
	[ "$types" = "rxe srnic" ] || events=(-e) on_demand=responder
	vrb_cases "${events[@]}" "${CASES[@]}" \
		"odp: every size and place, pinned at the $on_demand"
	check "$types: perftest"	pair ib_write_bw -n 200
	check "$types: no object left"	no_object_is_left
	pair_down
done
ktap_end
