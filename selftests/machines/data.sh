#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every byte arrives between two kernels, and no other byte is modified.
#
#   A: cases, nsA [sr0] veth0 ======== veth1 [sr1] nsB: B, whose verbs they call

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up
vrb_far data
ktap_end
