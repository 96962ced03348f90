#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where two programs answer each other, an ACK is sent with the answer; where one only
# receives, ACKs are not delayed.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_send_lat ib_write_lat ib_write_bw ib_send_bw ibv_rc_pingpong

# delayed NS DEV TOOL...: are ACKs delayed?  Not where round trips take 0.4 ms or more.
delayed()
{
	local before

	before=$(counter "$1" "$2" delayed_acks)
	pair "${@:3}" -n 1000 && counter_over "$1" "$2" delayed_acks "$before"
}

none_delayed()
{
	local before

	before=$(counter nsB sr1 delayed_acks)
	pair "$@" && counter_is nsB sr1 delayed_acks "$before"
}

ktap_plan 10
check "two hosts"			pair_up
check "SENDs that answer each other"	delayed nsA sr0 ib_send_lat
check "at the other end as well"	delayed nsB sr1 ib_send_lat
check "WRITEs"				delayed nsA sr0 ib_write_lat
check "events"				delayed nsB sr1 ib_send_lat -e
check "the last ACK is not lost"	pingpong rc -c -e -n 100
check "a stream of WRITEs"		none_delayed ib_write_bw -s 4096 -n 1000
check "a stream of SENDs"		none_delayed ib_send_bw -s 4096 -n 1000
check "answers get lost"		netem nsA veth0 loss 3%
check "answers are retransmitted"	pair ib_send_lat -s 8 -n 200
ktap_end
