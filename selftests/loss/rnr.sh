#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A receiver that is not ready delays data but loses none, on a wire that loses packets.
#
#   nsA [sr0] veth0 ===(loss 1 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make tc
vrb_make

CASES=("retry: RNR, then a receive"
	"retry: RNR of a WRITE with immediate, then a receive")

ktap_plan $((5 + ${#CASES[@]}))
check "two hosts"		pair_up
check "a wire that loses packets"	netem nsA veth0 loss 1%
check "and in the other direction"	netem nsB veth1 loss 1%
vrb_cases "${CASES[@]}"
check "sr1 was not ready"	counter_over nsB sr1 send_rnr_err 0
check "sr0 received RNR NAKs"	counter_over nsA sr0 rcvd_rnr_err 0
clear_wire
ktap_end
