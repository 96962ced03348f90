#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The programs of rdma-core, perftest and qperf that no other script runs work, and so do
# the options of perftest.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: rsockets: riostream, rstream, rcopy | rdmacm-utils
#   | module rdma_ucm
#   | ``rstream -s 10.9.0.2``; on the other host ``rstream``
# run: rdma_client, rdma_server, rdma_xclient, rdma_xserver | rdmacm-utils
#   | module rdma_ucm
#   | ``rdma_client -s 10.9.0.2``; on the other host ``rdma_server``
# run: qperf | qperf
#   | ``-cm 1``; the tests of RC
#   | ``qperf 10.9.0.2 -cm 1 rc_lat``; on the other host ``qperf``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"

# readiness test of the server | its command | command of the client, before the address
programs=(
	"cm|riostream -S 4096 -C 20 -T v -b 10.9.0.2|riostream -S 4096 -C 20 -T v -s"
	"7471|rstream -S 4096 -C 20 -T f -b 10.9.0.2|rstream -S 4096 -C 20 -T f -s"
	"cm|rdma_server -p 7471|rdma_client -p 7471 -s"
	"cm|rdma_xserver -p 7471|rdma_xclient -p 7471 -s"
	"cm|rdma_xserver -p 7471 -c x|rdma_xclient -p 7471 -c x -s"
)

# Both sides run the same command.  Connected by exchanging QP numbers ...
plain=(
	"ib_send_bw -c UD -n 200 -g -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3"
	"ib_send_lat -n 100 -e"
	"ib_send_bw -n 200 -e -b -s 4096"
	"ib_send_bw -n 200 --recv_post_list 8 -l 8 -s 4096"
	"ib_write_bw -n 256 -l 16 -s 64 -I 64"
	"ib_write_bw -n 50 -b -q 4 --mr_per_qp -s 65536"
	"ib_write_bw -n 5 -s 8388608"
	"ib_read_bw -n 200 -b -o 16"
	"ib_atomic_bw -n 200 -A CMP_AND_SWAP"
)

# ... and by the connection manager
managed=(
	"ib_write_lat -n 100 -s 8"
	"ib_read_lat -n 100 -s 8"
	"ib_send_bw -n 200 -c UD -s 1024"
	"ib_send_lat -n 100 -c UD"
	"ib_atomic_bw -n 200 -A FETCH_AND_ADD"
	"ib_atomic_lat -n 100 -A CMP_AND_SWAP"
	"ib_write_bw -n 200 -q 4 -z"
)

# Tests of qperf that support addressing on Ethernet; a second for each.
measures=(rc_bi_bw rc_lat rc_rdma_read_bw rc_fetch_add_mr ver_rc_compare_swap)

need rdma riostream rstream rcopy rdma_xserver ib_write_bw qperf

# program READY|SERVER|CLIENT
program()
{
	local client ready server

	IFS='|' read -r ready server client <<<"$1"
	between "$ready" "$server" "$client 10.9.0.2"
}

perftest()
{
	between 18515 "$* -d sr1 -F -u 21" "$* -d sr0 -F -u 21 10.9.0.2"
}

perftest_cm()
{
	until_accepted between cm "$* -R -d sr1 -F -u 21" "$* -R -d sr0 -F -u 21 10.9.0.2"
}

# rcopy's server waits for the next file.
copy()
{
	local dir

	dir=$(mktemp -d)
	head -c 1234567 /dev/urandom >"$dir/a" &&
		between_for cm rcopy "rcopy $dir/a 10.9.0.2:$dir/b" &&
		cmp "$dir/a" "$dir/b" && rm -r "$dir"
}

# measure TEST: qperf's server waits for the next client, too.
measure()
{
	until_accepted between_for 19765 qperf "qperf 10.9.0.2 -to $KTAP_BOUND -cm 1 -t 1 -m 4096 $1"
}

ktap_plan $((${#programs[@]} + ${#plain[@]} + ${#managed[@]} +
	${#measures[@]} + 2))
check "two hosts"			hosts_up
for row in "${programs[@]}"; do
	check "${row##*|}"		program "$row"
done
check "rcopy"				copy
for row in "${plain[@]}"; do
	# shellcheck disable=SC2086 # a tool and its arguments
	check "$row"			perftest $row
done
for row in "${managed[@]}"; do
	# shellcheck disable=SC2086
	check "$row -R"			perftest_cm $row
done
for row in "${measures[@]}"; do
	check "qperf $row"		measure "$row"
done
ktap_end
