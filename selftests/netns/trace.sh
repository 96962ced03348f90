#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Trace points report the events of a message, of a loss and of a fault in order.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/trace.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need nft
trace_can || skip_all "this kernel traces no events"
vrb_up
story=$(mktemp)
trap 'trace_down; pair_down; rm -f "$story"' EXIT
trace_up counter || exit	# the order of events is that of all processors

# traced CASE EVENT...: run the case and record these events
traced()
{
	local name=$1 status=0

	shift
	trace_on "$@" || return
	vrb "$name" || status=$?
	trace_off
	trace_text | sed -n 's/.* srnic_\([a-z_]*\): /\1 /p' >"$story"
	return "$status"
}

# tells PATTERN...: the recorded lines match the patterns one by one, in that order.  A and
# B in a pattern are the numbers of the queue pairs.
tells()
{
	local a b line pattern

	a=$(sed -n 's/^[a-z_]* qpn=\([0-9]*\) .*/\1/p;q' "$story")
	b=$(sed -n 's/^[a-z_]* qpn=//p' "$story" | cut -d' ' -f1 | grep -vxm1 "$a")
	exec 3<"$story"
	for pattern; do
		pattern=${pattern//qpn=A/qpn=$a}
		pattern=${pattern//qpn=B/qpn=$b}
		# shellcheck disable=SC2053 # a pattern
		read -r line <&3 && [[ $line == $pattern ]] ||
			{ echo "not '$pattern': $line"; cat "$story"; return 1; }
	done
	! read -r line <&3 || { echo "and more: $line"; return 1; }
}

# has PATTERN...: the recorded lines include matches of the patterns in that order
has()
{
	local line

	while read -r line; do
		# shellcheck disable=SC2053 # a pattern
		[[ $line != $1 ]] || shift
		(($#)) || return 0
	done <"$story"
	echo "no '$1'"
	cat "$story"
	return 1
}

packets="fetch tx rx cqe"
silence()
{
	trace_on
	vrb "traced: one write" && ! trace_text | grep srnic_
}

ktap_plan 16
# shellcheck disable=SC2086 # a list of words
check "one WRITE"		traced "traced: one write" $packets
check "has six events" tells \
	'fetch qpn=A index=0 wr_id=0x* op=RDMA_WRITE len=100 flags=0x2 status=SUCCESS' \
	'tx qpn=A to=* op=RC_WRITE_ONLY psn=16777200 len=100 ackreq=1 *' \
	'rx qpn=B to=* op=RC_WRITE_ONLY psn=16777200 len=100 ackreq=1 *' \
	'tx qpn=B to=* op=RC_ACK psn=16777200 len=0 * syndrome=0x1f' \
	'rx qpn=A to=* op=RC_ACK psn=16777200 len=0 * syndrome=0x1f' \
	'cqe qpn=A wr_id=0x* status=SUCCESS *'
check "keys and states"		traced "traced: one write" qp_state key_new key_gone
check "are created and destroyed"	has \
	'qp_state qpn=* from=RESET to=INIT' 'qp_state qpn=* from=INIT to=RTR' \
	'qp_state qpn=* from=RTR to=RTS' \
	'key_new key=0x* kind=plain addr=0x* len=20000 access=0x*' \
	'key_gone key=0x* kind=plain addr=0x* len=20000 access=0x*'
check "tasks"			traced "traced: one write" task_run
check "are reported"		has 'task_run qpn=* more=0'
check "a refused WRITE"		traced "counter: refused access" \
	fault failure tx rx qp_state cqe
check "reports the reason"	has \
	'tx qpn=* op=RC_WRITE_ONLY *' 'rx qpn=* op=RC_WRITE_ONLY *' \
	'fault qpn=* psn=16777200 why=access' \
	'failure qpn=* why=access memory=* op=RDMA WRITE psn=16777200 key=0x* addr=0x* len=* room=0' \
	'tx qpn=* op=RC_ACK * syndrome=0x62' \
	'qp_state qpn=* from=RTS to=ERR' 'rx qpn=* op=RC_ACK * syndrome=0x62' \
	'cqe qpn=* status=REM_ACCESS_ERR *' 'cqe qpn=* status=WR_FLUSH_ERR *'
check "a peer that is not ready" traced "resource: queue pair in RNR wait" \
	rnr_wait fault timeout go_back
check "is reported"		has 'fault qpn=* why=no receive' \
	'rnr_wait qpn=* una=16777200 usec=655360 rnr_left=7' \
	'timeout qpn=* what=rnr *' 'go_back qpn=* to=16777200'
check "the second packet is lost" drop_nth nsA veth0 2
check "WRITE with a gap"			traced "lost: packet" early go_back rx
check "the gap is repaired"			has 'early qpn=* psn=16777202 expected=16777201' \
	'rx qpn=* op=RC_ACK * syndrome=0x60' 'go_back qpn=* to=16777201'
check "windows are created and destroyed"	traced "mw: LOCAL_INV ends a window" \
	key_bind key_invalidate
check "their keys are reported"			has 'key_bind key=0x* kind=window2 *' \
	'key_invalidate key=0x* result=*'
check "no event without arming"	silence
ktap_end
