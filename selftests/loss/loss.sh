#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One packet in a hundred is lost, and every byte arrives.
#
#   nsA [sr0] veth0 ===(loss 1 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/soak.sh"

soak "loss 1 %" "loss 1%" "sr0 had to go back" \
	counter_over nsA sr0 go_back 0
