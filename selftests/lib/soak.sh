# SPDX-License-Identifier: GPL-2.0
# srnic selftests - every byte arrives over a faulty wire; source it after netns.sh and
# vrb.sh
#
#   soak WIRE NETEM WHAT COMMAND...   the whole script: NETEM, as for tc, is applied in
#                            both directions, and COMMAND proves that it had an effect
# shellcheck shell=bash

both_ways()
{
	netem nsA veth0 "$@" && netem nsB veth1 "$@"
}

# wire_busy: netem has had packets to work on
wire_busy()
{
	on nsB tc -s qdisc show dev ifb-veth1 |
		awk '/Sent/ { sent = $4 } END { exit !(sent > 100) }'
}

soak()
{
	local netem wire=$1

	read -ra netem <<<"$2"
	shift 2
	need rdma gcc make tc
	vrb_make

	ktap_plan 5
	check "two hosts"			pair_up
	check "a wire with $wire"		both_ways "${netem[@]}"
	vrb_cases -n 25 soak
	check "packets went over that wire"	wire_busy
	check "$@"
	clear_wire
	ktap_end
}
