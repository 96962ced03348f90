#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each operation of each size and shape moves its bytes and no other.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count data notify soak)"
vrb_cases data notify soak
ktap_end
