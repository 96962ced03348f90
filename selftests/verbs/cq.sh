#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completion queues are resized, moderated, overrun, and tell the time.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count cq)"
vrb_cases cq
ktap_end
