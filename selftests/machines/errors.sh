#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Errors and changes of state have the same effects between two kernels as in one.
#
#   A: cases, nsA [sr0] veth0 ======== veth1 [sr1] nsB: B, whose verbs they call

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up
vrb_far errors state
ktap_end
