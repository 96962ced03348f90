#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One user cannot take from others what there is only so much of, nor guess their
# numbers, nor keep their pages waiting.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count users)"
vrb_cases users
ktap_end
