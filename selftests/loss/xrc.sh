#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# XRC retransmits lost requests, to the receive queue they are for.
#
#   nsA [sr0] veth0 ===(loss 2 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make tc
vrb_make

ktap_plan 5
check "two hosts"		pair_up
check "a wire that loses packets"	netem nsA veth0 loss 2%
check "and in the other direction"	netem nsB veth1 loss 2%
vrb_cases -n 100 xrcsoak
check "sr0 had to go back"	counter_over nsA sr0 go_back 0
clear_wire
ktap_end
