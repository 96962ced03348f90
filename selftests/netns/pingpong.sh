#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ibv_rc_pingpong finds the data it sent, polling and by events.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ibv_rc_pingpong

# pingpong ARGUMENT...: both sides check what they get
pingpong()
{
	local index server

	index=$(on nsA sh -c 'cd /sys/class/infiniband/sr0/ports/1/gids && grep -l ffff:0a09 *')
	index=${index%%$'\n'*}
	on nsB timeout 60 ibv_rc_pingpong -d sr1 -g "$index" -c "$@" &
	server=$!
	wait_for 10 listening nsB 18515 || return
	on nsA timeout 60 ibv_rc_pingpong -d sr0 -g "$index" -c "$@" 10.9.0.2 &&
		wait "$server"
}

ktap_plan 6
check "two hosts"		pair_up
check "4 KiB"			pingpong -n 30
check "one byte"		pingpong -n 30 -s 1
check "256 KiB"			pingpong -n 50 -s 262144
check "by events"		pingpong -n 500 -e
check "small path MTU"		pingpong -n 30 -m 256 -s 10000
ktap_end
