#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A task enables bottom halves after a bounded amount of work, and accounts for the cost of
# all work.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# A stretch is the work that a task does with bottom halves disabled.  The trace point
# srnic_task_stretch reports its cost, in bytes copied.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/trace.sh"

need rdma ib_write_bw ib_read_bw ib_send_bw
trace_can || skip_all "this kernel traces no events"
ktap_first "two hosts" pair_up
trap 'trace_down; pair_down' EXIT
trace_up || exit

# SRNIC_COST_STRETCH and one more step: 64 packets between two queue pairs of one device,
# and the fixed cost of a run
bound=$((1310720 + 64 * 4096 + 32768))

# costs COMMAND...: run it and record the cost of its stretches
costs()
{
	local status=0

	trace_on task_stretch || return
	"$@" || status=$?
	trace_off
	return "$status"
}

# in_stretches BYTES: there were several stretches, none above the bound, of more than BYTES in
# total
in_stretches()
{
	trace_text | awk -v bound="$bound" -v bytes="$1" '
	match($0, /srnic_task_stretch: .* cost=/) {
		cost = substr($0, RSTART + RLENGTH) + 0
		sum += cost
		n++
		if (cost > most)
			most = cost
	}
	END {
		printf "%d stretches, %d together, %d at most\n", n, sum, most
		exit !(n > 1 && sum >= bytes && most <= bound)
	}'
}

size=$((8 << 20)) num=5
bytes=$((size * num))

ktap_plan 10
check "long WRITEs on one device"	costs by_itself pair ib_write_bw -s $size -n $num
check "WRITEs take several stretches"	in_stretches "$bytes"
check "long READs on one device"	costs by_itself pair ib_read_bw -s $size -n $num
check "READs take several stretches"	in_stretches "$bytes"
check "long SENDs on one device"	costs by_itself pair ib_send_bw -s $size -n $num
check "SENDs take several stretches"	in_stretches "$bytes"
check "long WRITEs to another host"	costs pair ib_write_bw -s $size -n $num
check "WRITEs take several stretches at both hosts"	in_stretches "$((2 * bytes))"
check "long READs from another host"	costs pair ib_read_bw -s $size -n $num
check "READs take several stretches at both hosts"	in_stretches "$((2 * bytes))"
ktap_end
