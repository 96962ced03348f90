#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Parent domains, thread domains, imported objects and fork do what they say.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count domain)"
vrb_cases domain
ktap_end
