#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link of type srnic_rxe, used through rdma-core's rxe provider, moves the same bytes and
# refuses the same requests as an srnic link through the srnic provider.
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB

. "$(dirname "$0")/../lib/stock.sh"
. "$(dirname "$0")/../lib/vrb.sh"

cases=("${vrb_common[@]}"
	"srq: the largest queue is as the device says"
	"queue: the largest queues are as the device says"
	"queue: limits of the device are enforced"
	"xrc: initiators only if the device says so"
	"odp: every size and offset, pinned at the requester")

need rdma gcc make
vrb_make
ktap_plan $((1 + ${#cases[@]}))
check "two hosts"	pair_up
vrb_cases "${cases[@]}"
ktap_end
