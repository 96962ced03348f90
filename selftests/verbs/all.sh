#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every topic of the harness in one go, for kernels where a process is slow to start.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

topics=(data soak access invalid local retry queue state hostile notify cq domain
	flush mr mw odp "odp storm" srq uc ud mcast xrc raw flow wq rss post)

need rdma gcc make
vrb_make || skip_all "the harness does not build here"
pair_up || exit

ktap_plan "$(vrb_count "${topics[@]}")"
vrb_cases -n 5 "${topics[@]}"
ktap_end
