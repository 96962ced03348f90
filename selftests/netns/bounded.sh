#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# However much there is to do, bottom halves get their turn after a bounded part
# of it, and no part of it goes uncounted.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# A stretch is what a task does with bottom halves disabled; its cost is told by
# the trace point srnic_task_stretch, in bytes copied.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/trace.sh"

need rdma ib_write_bw ib_read_bw ib_send_bw
trace_can || skip_all "this kernel traces no events"
pair_up || exit
trap 'trace_down; pair_down' EXIT
trace_up || exit

# SRNIC_COST_STRETCH, and one step more: 64 packets' worth between two queue
# pairs of one device, and what is done for a run
bound=$((1310720 + 64 * 4096 + 32768))

# costs COMMAND...: runs it; the trace tells what its stretches cost
costs()
{
	local status=0

	trace_on task_stretch || return
	"$@" || status=$?
	trace_off
	return "$status"
}

# bounded BYTES: there were several, none exceeds the bound, and together they
# cost more than that
bounded()
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

# alone TOOL ARGUMENT...: a perftest of sr0 with itself
alone()
{
	local server tool=$1

	shift
	on nsA "$tool" -d sr0 -F "$@" >/dev/null 2>&1 &
	server=$!
	wait_for 60 listening nsA 18515 || return
	on nsA "$tool" -d sr0 -F "$@" 10.9.0.1 && wait "$server"
}

size=$((8 << 20)) num=5
bytes=$((size * num))

ktap_plan 10
check "long WRITEs on one device"	costs alone ib_write_bw -s $size -n $num
check "are done in pieces"		bounded "$bytes"
check "long READs on one device"	costs alone ib_read_bw -s $size -n $num
check "are done in pieces, too"		bounded "$bytes"
check "long SENDs on one device"	costs alone ib_send_bw -s $size -n $num
check "are done in pieces as well"	bounded "$bytes"
check "long WRITEs to another host"	costs pair ib_write_bw -s $size -n $num
check "are done in pieces by both"	bounded "$((2 * bytes))"
check "long READs from another host"	costs pair ib_read_bw -s $size -n $num
check "are done in pieces by both, too"	bounded "$((2 * bytes))"
ktap_end
