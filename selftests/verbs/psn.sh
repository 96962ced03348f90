#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# PSNs wrap: neither the longest message nor the oldest atomic is mistaken for another.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# Most cases use loopback, as sending millions of packets takes minutes.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan "$(vrb_count wrap)"
vrb_cases -a sr0@nsA -b sr0@nsA wrap
ktap_end
