#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The output of "rdma resource" and "rdma statistic" matches the work of queue pairs.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need python3 nft ibv_srq_pingpong
vrb_up

# all_json: the output about a running program is JSON.  Drivers are queried about queue
# pairs, CQs and regions; kernels such as 6.1 do not query them about SRQs.
all_json()
{
	local asked=4 server status=0 what

	kernel_since 6.12 || asked=3

	ip netns exec nsB ibv_srq_pingpong -d sr1 -g 1 -q 2 &
	server=$!
	wait_for listening nsB 18515 || status=1
	for what in qp cq mr pd srq ctx; do
		on nsB rdma -j -dd resource show "$what"
		echo
		on nsB rdma -jp -dd resource show "$what" >/dev/null || status=1
	done | python3 -c '
import json, sys
text, lists = sys.stdin.read().lstrip(), []
while text:
    entries, end = json.JSONDecoder().raw_decode(text)
    lists.append(any(k.startswith("drv_") for e in entries for k in e))
    text = text[end:].lstrip()
sys.exit(sum(lists) != int(sys.argv[1]))' $asked || status=1
	kill "$server"
	wait "$server" 2>/dev/null
	return "$status"
}

auto()
{
	on nsA rdma statistic qp set link sr0/1 auto "$@"
}

no_counter_is_left()
{
	[ -z "$(on nsA rdma statistic qp show)$(on nsB rdma statistic qp show)" ]
}

# documented: all counters, and no others
documented()
{
	diff <(on nsA rdma -j statistic show link sr0/1 |
		grep -oE '"[a-z_]+":' | tr -d '":' | grep -vxE 'ifname|port' | sort) \
		<(# shellcheck disable=SC2154 # netns.sh says where
		grep -oE '^``[a-z_, `]+``' \
			"$selftests/../Documentation/counters.rst" |
			grep -oE '[a-z_]+' | sort)
}

ktap_plan $(($(vrb_count resource counter automatic lost lost_request lost_response lost_tail \
		unplugged) + $(vrb_count automatic) + 19))
check "every counter is documented"	documented
check "all output is JSON"		all_json
vrb_cases resource
before=$(counter nsA sr0 rdma_writes)
vrb_cases counter
check "no counter is left"		no_counter_is_left
# bound 6, unbound 4, two queue pairs in one 6, acknowledgments 48
check "the port counter is the sum"	counter_is nsA sr0 rdma_writes $((before + 64))
check "one counter for each type"	auto type on
vrb_cases automatic
check "no counter is left"		no_counter_is_left
check "automatic counters are off"	auto off
check "one counter for each program and type"	auto type,pid on
vrb_cases automatic
check "automatic counters are off"	auto off
check "the second packet is lost"	drop_nth nsA veth0 2
vrb_cases lost
check "the wire loses nothing"		clear_wire
check "the second packet is lost"	drop_nth nsA veth0 2
vrb_cases lost_request
check "the wire loses nothing"		clear_wire
check "the second response is lost"	drop_nth nsB veth1 2
vrb_cases lost_response
check "the wire loses nothing"		clear_wire
check "the second packet is lost"	drop_nth nsA veth0 2
vrb_cases lost_tail
check "the wire loses nothing"		clear_wire
vrb_cases unplugged
check "no counter is left"		no_counter_is_left
check "the device is back"	on nsA rdma link add sr0 type srnic netdev veth0
ktap_end
