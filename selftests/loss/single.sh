#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A lost packet costs that packet, not all that was sent behind it.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw nft ethtool

# 5 messages of 1 MiB in packets of 4 KiB, and a few that were repeated
few_repeated()
{
	local sent

	sent=$(counter nsA sr0 sent_pkts)
	echo "$sent packets were sent"
	((sent > 1280 && sent <= 1280 + 64))
}

ktap_plan 8
check "two hosts"		pair_up
check "packet 100 gets lost"	drop_nth nsA veth0 100
check "WRITEs of 1 MiB arrive"	pair ib_write_bw -s 1048576 -n 5
check "sr1 saw the gap"		counter_is nsB sr1 out_of_seq_request 1
check "sr0 was told"		counter_is nsA sr0 rcvd_seq_err 1
check "sr0 went back"		counter_over nsA sr0 go_back 0
check "it repeated little"	few_repeated
check "no timeout was needed"	counter_is nsA sr0 local_ack_timeout_err 0
ktap_end
