#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# WRITE and READ of 2^31 bytes in 2^23 packets complete.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# Uses loopback, as sending millions of packets takes minutes.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan "$(vrb_count half)"
vrb_cases -a sr0@nsA -b sr0@nsA half
ktap_end
