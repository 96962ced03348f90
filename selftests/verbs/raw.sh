#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Frames leave and arrive as they are, and who gets which is what flows say.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count raw flow wq rss)"
vrb_cases raw flow wq rss
ktap_end
