#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernel memory allocated for a program is charged to its memory cgroup, and limited by it.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

[ -w /sys/fs/cgroup/cgroup.subtree_control ] || skip_all "no cgroups here"
vrb_up

# The kernel logs each process that it kills in a full cgroup, with a call trace.
quietly()
{
	dmesg -n 1
	"$@"
	dmesg -n 7
}

# shellcheck disable=SC2154 # set by netns.sh
no_worse_than_that()
{
	! dmesg | sed "1,/$kernel_log_mark/d" | grep -v 'Call Trace:' |
		grep -E -m 1 -A 40 -f "$selftests/lib/bad-log" || return
	kernel_log_mark+=" again"
	echo "$kernel_log_mark" >/dev/kmsg
}

ktap_plan $((3 + $(vrb_count charge "charge counters" "cgroup limit")))
vrb_cases charge
check "counters for each thread" \
	on nsA rdma statistic qp set link sr0/1 auto pid on
vrb_cases "charge counters"
check "automatic counters are off" on nsA rdma statistic qp set link sr0/1 auto off
quietly vrb_cases "cgroup limit"
check "except for full cgroups the kernel log is clean" no_worse_than_that
ktap_end
