#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that use shared receive queues run, and "rdma resource" lists the queues.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ibv_srq_pingpong ib_send_bw

# perftest 25.01 rounds receives up to the path MTU, so that some end beyond their region
odd=("-s 64" "-s 2048" "-s 65537" "-s 5000 -q 4" "-s 5000 -b" "-s 1000 -c UD")
shown=$(mktemp)

# is_shown: while a program has an SRQ, "rdma res" lists it and its users
is_shown()
{
	local server status=0

	# exec, so that the process ID is that of the program
	ip netns exec nsB ibv_srq_pingpong -d sr1 -g 1 -q 4 &
	server=$!
	wait_for listening nsB 18515 || status=1
	on nsB rdma res show srq dev sr1 | tee "$shown"
	grep -Eq 'type BASIC lqpn [0-9]+([-,][0-9]+)+ ' "$shown" || status=1
	kill "$server"
	wait "$server" 2>/dev/null
	return "$status"
}

ktap_plan $((10 + ${#odd[@]}))
check "two hosts"			pair_up
check "pingpong, 4 KiB"			pingpong srq -c -n 30
check "pingpong, 64 KiB"		pingpong srq -c -n 30 -s 65536
check "pingpong by events"		pingpong srq -c -e -n 500
check "pingpong, small path MTU"	pingpong srq -c -n 30 -m 256 -s 10000
check "ib_send_bw"		pair ib_send_bw --use-srq -s 65536 -n 200 -r 512
check "ib_send_bw, four queue pairs" \
	pair ib_send_bw --use-srq -q 4 -s 4096 -n 200 -r 512
for how in "${odd[@]}"; do
	# shellcheck disable=SC2086 # arguments
	check "ib_send_bw $how"	pair ib_send_bw --use-srq -n 20 $how
done
check "ib_send_lat"			pair ib_send_lat --use-srq -s 8 -n 15
check "the resource is shown"		is_shown
check "no object is left"		no_object_is_left
rm -f "$shown"
ktap_end
