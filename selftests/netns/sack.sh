#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A responder tells its peer which packets it has kept: always if the peer understands that,
# else twice.
#
#   nsA [sr0] veth0 ===(loss 2 % from nsA)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw nft ethtool tc

writes()
{
	pair ib_write_bw -s 1048576 -n 20
}

# all: the counters of SACKs on both hosts
all()
{
	local name ns

	for ns in nsA/sr0 nsB/sr1; do
		for name in sack_sent sack_rcvd sack_ignored; do
			echo "$ns $name $(counter "${ns%/*}" "${ns#*/}" "$name")"
		done
	done
}

# grew NS DEV COUNTER [NUMBER]: since the last call of note, by that number, or at all
grew()
{
	local by before

	before=$(awk -v what="$1/$2 $3" '$1 " " $2 == what { print $3 }' <<<"$noted")
	by=$(($(counter "$1" "$2" "$3") - before))
	((by == ${4:-by} && by >= ${4:-1})) || { echo "by $by"; return 1; }
}

note()
{
	noted=$(all)
}

ktap_plan 26
check "two hosts"			pair_up
note
check "WRITEs arrive"			writes
check "nothing was lost, nor reported"	grew nsB sr1 sack_sent 0
check "and there was nothing to obey"	grew nsA sr0 sack_rcvd 0

check "nsA loses 2 %"			netem nsA veth0 loss 2%
note
check "WRITEs arrive"			writes
check "sr1 reports more than twice"	counter_over nsB sr1 sack_sent 2
check "sr0 obeys"			counter_over nsA sr0 sack_rcvd 2
check "sr0 ignores nothing"		grew nsA sr0 sack_ignored 0
check "sr0 answers"			grew nsA sr0 sack_sent
check "sr1 takes an answer"		grew nsB sr1 sack_rcvd
check "sr1 ignores nothing"		grew nsB sr1 sack_ignored 0

check "sr0 is told not to use them"	setting nsA sr0 sack 0
note
check "WRITEs arrive"			writes
check "sr1 reports twice"		grew nsB sr1 sack_sent 2
check "sr0 ignores that"		grew nsA sr0 sack_ignored 2
check "sr0 obeys none"			grew nsA sr0 sack_rcvd 0
check "sr0 answers none"		grew nsA sr0 sack_sent 0

check "sr0 uses them again"		setting nsA sr0 sack 1
check "sr1 is told not to"		setting nsB sr1 sack 0
note
check "WRITEs arrive"			writes
check "sr1 reports nothing"		grew nsB sr1 sack_sent 0
check "sr0 receives nothing"		grew nsA sr0 sack_rcvd 0
check "sr1 uses them again"		setting nsB sr1 sack 1
note
check "WRITEs arrive"			writes
check "sr1 reports what it keeps"	grew nsB sr1 sack_sent
ktap_end
