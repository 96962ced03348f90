#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Datagrams arrive with their GRH or not at all, unicast and multicast.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan $((2 * $(vrb_count ud mcast)))
vrb_cases ud mcast
diag "IPv6"
vrb_cases -6 ud mcast
ktap_end
