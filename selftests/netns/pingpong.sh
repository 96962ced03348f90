#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ibv_rc_pingpong receives the data it sent, with polling and with events.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: ibv_rc_pingpong | ibverbs-utils
#   | ``-g``, the index of a GID of RoCEv2
#   | ``ibv_rc_pingpong -d srnic0 -g 1 10.9.0.2``; on the other host without the address

. "$(dirname "$0")/../lib/netns.sh"

need rdma ibv_rc_pingpong

ktap_plan 6
check "two hosts"		pair_up
check "4 KiB"			pingpong rc -c -n 30
check "one byte"		pingpong rc -c -n 30 -s 1
check "256 KiB"			pingpong rc -c -n 50 -s 262144
check "by events"		pingpong rc -c -n 500 -e
check "small path MTU"		pingpong rc -c -n 30 -m 256 -s 10000
ktap_end
