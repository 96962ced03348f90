#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are reordered, and every byte arrives in order.
#
#   nsA [sr0] veth0 ===(reordering 5 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/soak.sh"

soak "reordering 5 %" "delay 200us reorder 5%" "sr1 saw gaps" \
	counter_over nsB sr1 out_of_seq_request 0
