#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each error has its status, its event and its states, on both sides.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count access invalid local retry flush)"
vrb_cases access invalid local retry flush
ktap_end
