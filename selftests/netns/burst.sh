#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that arrive back-to-back but not as a GSO chain are processed in one run.
#
#   nsA [sr0] veth0 ====(no GSO chains)==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/trace.sh"

need rdma ethtool ib_write_bw ib_send_bw
trace_can || skip_all "this kernel traces no events"
trap 'trace_down; pair_down' EXIT
trace_up || exit

# traced OPERATION TOOL...: run the tool; of the queue pair with the most packets of that kind,
# set packets to their number and runs to the runs of its task that received them
traced()
{
	local kind=$1 qpn

	shift
	trace_on rx task_run && pair "$@" || return
	trace_off
	read -r packets qpn < <(trace_text |
		sed -n "s/.* srnic_rx: qpn=\([0-9]*\) .* op=$kind.*/\1/p" |
		sort | uniq -c | sort -rn | head -n 1)
	runs=$(trace_text | grep -c "srnic_task_run: qpn=$qpn ")
	diag "$packets packets in $runs runs"
}

# few_runs: at most one run per four packets
few_runs()
{
	((packets >= 320 && runs > 0 && 4 * runs <= packets))
}

ktap_plan 6
check "two hosts"		pair_up
check "packets leave one by one" on nsA ethtool -K veth0 tx-gso-list off \
	tx-udp-segmentation off
check "WRITE"			traced RC_WRITE ib_write_bw -s 65536 -n 20
check "in few runs"		few_runs
check "SEND"			traced UC_SEND ib_send_bw -c UC -s 65536 -n 20
check "in few runs"		few_runs
ktap_end
