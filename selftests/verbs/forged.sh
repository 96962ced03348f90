#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An acknowledgment or a response with an invalid syndrome is dropped and counted.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

/usr/bin/python3 -c 'import scapy.contrib.roce' 2>/dev/null || skip_all "no scapy"
vrb_up
export SELFTESTS=${selftests:?}

# 187 reserved syndromes, and 8 that are invalid in a response
ktap_plan $(($(vrb_count forged) + 1))
vrb_cases forged
check "dropped packets are counted" counter_is nsA sr0 rx_malformed 195
ktap_end
