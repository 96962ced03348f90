#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An event of another netdev calls no function for a queue pair, a listing of queue pairs
# cannot be preempted while it prevents a queue pair from running, and a query of port counters
# sums them up once.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB, with a hundred queue pairs

. "$(dirname "$0")/../lib/netns.sh"

need rdma ibv_srq_pingpong
tracing=/sys/kernel/tracing
mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing" 2>/dev/null
[ -e "$tracing/available_filter_functions" ] || skip_all "this kernel has no function tracer"
[[ $(uname -v) != *PREEMPT_RT* ]] || skip_all "listings are preemptible on PREEMPT_RT"
trap 'set_tracer nop; pair_down' EXIT

# set_tracer NAME: select a tracer, which clears the buffer
set_tracer()
{
	echo "$1" >"$tracing/current_tracer" && echo >"$tracing/trace"
}

serve()
{
	modprobe srnic && echo ':mod:srnic' >"$tracing/set_ftrace_filter" || return
	ip netns exec nsB ibv_srq_pingpong -d sr1 -g 1 -q 100 >/dev/null &
	server=$!
	wait_for listening nsB 18515
}

# traced COMMAND...: run it, and print the functions of the driver called in its context
traced()
{
	set_tracer function && "$@" >/dev/null || return
	echo 0 >"$tracing/tracing_on"
	grep -E "^ *${1##*/}-[0-9]+ " "$tracing/trace"
	echo 1 >"$tracing/tracing_on"
	set_tracer nop
}

# The netdev has no queue pair.
few_calls()
{
	local calls

	calls=$(traced ip link add other type dummy && traced ip link del other) || return
	awk '{ print $(NF - 1), $NF }' <<<"$calls" | sort | uniq -c
	grep -q ndev_event <<<"$calls" && (($(wc -l <<<"$calls") < 50))
}

# Preemption is disabled a second time where the state of a queue pair is copied.
not_preemptible()
{
	local calls

	calls=$(traced rdma -dd resource show qp link sr1/1) || return
	awk '
		{ match($0, /\] [^ ]+/); depth = substr($0, RSTART + 5, 1); sub(/\./, 0, depth) }
		$(NF - 1) == "srnic_fill_res_qp" { outside = depth }
		$(NF - 1) == "srnic_failure_fill_attrs" { deeper += depth > outside; seen++ }
		END { print deeper + 0, "of", seen + 0; exit seen < 100 || deeper < seen }
	' <<<"$calls" || { head -n 20 <<<"$calls"; return 1; }
}

# The RDMA core asks as a remote node does: by a Get of PortCountersExtended.
one_sum()
{
	local calls

	calls=$(traced cat /sys/class/infiniband/sr1/ports/1/counters/port_rcv_data) || return
	awk '
		{ number[$(NF - 1)]++ }
		END {
			for (name in number)
				print number[name], name
			exit number["srnic_port_counters"] != 1 || number["srnic_stats_add"] != 1
		}
	' <<<"$calls"
}

ktap_plan 5
check "two hosts"				pair_up
check "a program with a hundred queue pairs"	serve
check "another netdev comes and goes"		few_calls
check "the queue pairs are listed"		not_preemptible
check "a counter of the port is read"		one_sum
kill "$server"
wait "$server" 2>/dev/null
ktap_end
