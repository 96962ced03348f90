#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A message of 2^23 packets completes.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan 1
vrb_cases "wrap: a SEND of half the PSN space"
ktap_end
