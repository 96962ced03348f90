#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are duplicated, and every byte arrives once.
#
#   nsA [sr0] veth0 ===(duplication 2 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/soak.sh"

soak "duplication 2 %" "duplicate 2%" "sr1 saw duplicates" \
	counter_over nsB sr1 duplicate_request 0
