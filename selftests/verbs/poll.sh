#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With the polled doorbell no work request is lost or delayed, whether a queue is polled
# for long, briefly or not at all.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

topics=(data order soak retry queue hostile notify uc ud)

watch_for()
{
	echo "$1" >/sys/module/srnic/parameters/poll_usecs
}

vrb_up

ktap_plan $((3 * $(vrb_count "${topics[@]}") + 5))
check "polling for long"		watch_for 20000
vrb_cases -n 5 "${topics[@]}"
check "queues were polled"		counter_over nsA sr0 doorbell_polled 100
check "polling for a moment"		watch_for 1
vrb_cases -n 5 "${topics[@]}"
vrb_cases -n 5 -a sr0@nsA -b sr0@nsA "${topics[@]}"
check "doorbells were rung, too"	counter_over nsA sr0 doorbell_syscalls 100
check "no polling"			watch_for 0
ktap_end
