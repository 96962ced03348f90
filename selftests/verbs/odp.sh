#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An on-demand region shows the memory of its process, whatever happens to the pages.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need ib_write_bw
vrb_up

# unbuffered COMMAND...: with packets dropped that would wait for a page
unbuffered()
{
	local kbytes

	kbytes=$(setting nsB sr1 rx_kbytes)
	setting nsB sr1 rx_kbytes 0
	"$@"
	setting nsB sr1 rx_kbytes "$kbytes"
}

batch="odp: many messages at once"

ktap_plan $((9 + $(vrb_count "odp prefetch" "odp dereg" odp "odp storm") + $(vrb_count "$batch")))
vrb_cases "odp prefetch: no page faults in later transfers"
check "sr0 had no page fault"	counter_is nsA sr0 page_faults 0
check "sr1 had no page fault"	counter_is nsB sr1 page_faults 0
vrb_cases "odp prefetch: pages become present" "odp prefetch: asynchronous" \
	"odp prefetch: errors" "odp prefetch: ranges that are not mapped" \
	"odp prefetch: mapped ranges without pages" \
	"odp prefetch: pages behind absent ones" \
	"odp prefetch: of a process that has exited" "odp dereg"
check "sr1 refused once"	counter_is nsB sr1 resp_remote_access_errors 1
vrb_cases odp
check "sr0 had page faults"	counter_over nsA sr0 page_faults 100
check "sr1 had page faults"	counter_over nsB sr1 page_faults 100
dropped=$(counter nsB sr1 rx_drop_nobuf)
unbuffered vrb_cases "$batch"
check "sr1 dropped packets"	counter_over nsB sr1 rx_drop_nobuf "$dropped"
vrb_cases "odp storm"
check "perftest: WRITE"		pair ib_write_bw --odp -s 65536 -n 100
check "perftest: READ"		pair ib_read_bw --odp -s 65536 -n 100
check "perftest: SEND"		pair ib_send_bw --odp -s 65536 -n 100 -r 200
ktap_end
