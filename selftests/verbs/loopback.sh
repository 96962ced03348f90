#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loopback is equivalent to the wire: each case results in the same completions, events,
# states and memory, whether the peer is on the same device or on another.
#
#   loopback <- nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

topics=(data errors uc xrc)

vrb_up
ktap_plan $(($(vrb_count -T "${topics[@]}") + 1))
vrb_cases -n 2 -c sr0@nsA -T "${topics[@]}"
check "requests used loopback"	counter_over nsA sr0 local_requests 1000
ktap_end
