#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# PSNs come round: neither the longest message nor the oldest atomic is taken for
# another.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# Most of it goes by the loopback path: millions of packets take minutes.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan "$(vrb_count wrap)"
vrb_cases -a sr0@nsA -b sr0@nsA wrap
ktap_end
