#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On a faulty wire, messages of an unreliable connection that arrive are complete.
#
#   nsA [sr0] veth0 ===(loss, then reordering, corruption)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make tc
vrb_make

WIRES=("loss 3%" "delay 1ms reorder 5% 50%" "corrupt 3%")

ktap_plan $((2 + 2 * ${#WIRES[@]}))
check "two hosts"		pair_up
for wire in "${WIRES[@]}"; do
	# shellcheck disable=SC2086 # netem's words
	check "a wire with $wire"	netem nsA veth0 $wire
	vrb_cases -n 10 ucsoak
	clear_wire
done
check "sr1 saw gaps"		counter_over nsB sr1 out_of_seq_request 0
ktap_end
