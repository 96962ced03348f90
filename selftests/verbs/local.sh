#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two queue pairs of one device behave like those of two devices, both by loopback and
# with loopback switched off.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

topics=(data order soak access invalid local gather retry state notify flush mw odp "odp storm"
	srq uc xrc)

vrb_up

ktap_plan $((2 * $(vrb_count "${topics[@]}") + 4))
vrb_cases -n 10 -a sr0@nsA -b sr0@nsA "${topics[@]}"
check "most requests used loopback"	counter_over nsA sr0 local_requests 2000
check "loopback is switched off"	setting nsA sr0 loopback 0
before=$(counter nsA sr0 local_requests)
vrb_cases -n 2 -a sr0@nsA -b sr0@nsA "${topics[@]}"
check "no request used loopback"	counter_is nsA sr0 local_requests "$before"
check "loopback is switched on"		setting nsA sr0 loopback 1
ktap_end
