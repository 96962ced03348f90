#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A lost packet is retransmitted alone, without the packets behind it.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ib_read_bw nft ethtool
QP_TIMEOUT=21	# 8 s: the packets that are missing arrive without it

# few_repeated SENT MESSAGES MAX BEFORE: SENT packets are those of MESSAGES of 1 MiB, in packets
# of 4 KiB, and at most MAX retransmissions each time that sr0 went back, as it had BEFORE.
# It does so once for the lost packet, and to probe if an end has no processor for a while.
few_repeated()
{
	local once=$(($2 * 256)) back

	back=$(($(counter nsA sr0 go_back) - $4))
	echo "$1 packets were sent, sr0 went back $back times"
	(($1 > once && $1 <= once + $3 * back))
}

# If an end has no processor for a while, packet 100 is probed for before the next one leaves, and
# there is no gap to report.
tries=0
reports_gap()
{
	until counter_is nsB sr1 out_of_seq_request 1; do
		((++tries <= 10)) && drop_nth nsA veth0 100 &&
			pair ib_write_bw -s 1048576 -n 5 || return
	done
}

ktap_plan 20
check "two hosts"		pair_up
check "sr1 reports that packet 100 of WRITEs is lost" reports_gap
check "sr0 received the NAK"	counter_is nsA sr0 rcvd_seq_err 1
check "sr0 went back"		counter_over nsA sr0 go_back 0
check "few packets were retransmitted"	few_repeated "$(counter nsA sr0 sent_pkts)" \
						     $((5 * tries)) 64 0
check "no timeout was needed"	counter_is nsA sr0 local_ack_timeout_err 0

acks=$(counter nsB sr1 sent_pkts) again=$(counter nsA sr0 go_back)

# The responder remembers one READ.
check "response 400 is lost"	drop_nth nsB veth1 400
check "READs of 8 MiB arrive"	pair ib_read_bw -s 8388608 -n 5 -o 1
check "sr0 detected the gap"	counter_over nsA sr0 implied_nak_seq_err 0
check "it requested parts again"	counter_over nsB sr1 rx_read_requests $((5 * 2 - 1))
check "few responses were sent again"	few_repeated $(($(counter nsB sr1 sent_pkts) - acks)) 40 40 \
						     "$again"
check "no timeout was needed for READs"	counter_is nsA sr0 local_ack_timeout_err 0

again=$(counter nsA sr0 go_back)
check "the last response is lost"	drop_nth nsB veth1 80
check "READs of 64 KiB arrive"	pair ib_read_bw -s 65536 -n 5
check "sr0 asked again"		counter_over nsA sr0 go_back "$again"
check "and did not wait long"	counter_is nsA sr0 local_ack_timeout_err 0

again=$(counter nsA sr0 go_back)
# At most as many as the smallest window has, as retransmitted responses would be lost, too.
check "the last six responses are lost"	drop_nth nsB veth1 $((61 * 128 - 5)) $((61 * 128))
check "READs of 512 KiB arrive"	pair ib_read_bw -s 524288 -n 64 -o 1
check "sr0 asked again"		counter_over nsA sr0 go_back "$again"
check "and did not wait long"	counter_is nsA sr0 local_ack_timeout_err 0
ktap_end
