#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With the polled doorbell no work request is lost or delayed, whether a queue is polled
# for long, briefly or not at all.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

has_workers || skip_all "this kernel has no vhost tasks"
topics=(data order soak retry queue hostile notify uc ud)

watch_for()
{
	export SRNIC_POLL_USECS=$1
}

# not_allowed: the administrator does not allow it any more, while a queue is polled
not_allowed()
{
	local before status=0

	watch_for 20000
	flow_up ib_write_bw -s 4096 || return
	wait_for counter_over nsA sr0 doorbell_polled "$(counter nsA sr0 doorbell_polled)" &&
		setting nsA sr0 poll 0 &&
		wait_for counter_over nsA sr0 doorbell_syscalls \
			$(($(counter nsA sr0 doorbell_syscalls) + 100)) || status=1
	flow_down
	before=$(counter nsA sr0 doorbell_polled)
	((status == 0)) && vrb -n 5 data && counter_is nsA sr0 doorbell_polled "$before"
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
check "polling is not allowed any more"	not_allowed
ktap_end
