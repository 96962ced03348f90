#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Shared Memory Communications over RDMA (SMC-R), version 2: the bytes of its sockets arrive
# with their contents, as RDMA WRITEs and not by TCP, on a reliable wire and on one that loses
# packets.  A connection ends at both ends if the wire is cut or if a device is gone; the next
# one uses RDMA again.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#   client                                       server
#
# run: SMC-R, version 2 | linux
#   | module smc; an identifier (UEID) that both ends have; ``rdma system set netns exclusive`` if
#   both ends are on one host
#   | ``selftests/ulp/smc.py ueid``, then stream sockets with ``IPPROTO_SMC``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/wire.sh"
. "$selftests/lib/exclusive.sh"
. "$selftests/lib/smc.sh"

smc_needed
work=$(mktemp -d)

smc_down()
{
	wait_freed modprobe -r smc && no_object_is_left
}

# devices_anew: a socket closed while its link group is terminated may keep SMC loaded, and
# with it the link groups of later connections
devices_anew()
{
	on nsA bounded rdma link del sr0 && peer_dies &&
		link_add nsA sr0 veth0 "$TYPE_A" && peer_returns
}

# talk CONNECTIONS BYTES
talk()
{
	# shellcheck disable=SC2154 # of lib/smc.sh
	between 5000 "$smc serve 5000 $1" "$smc ask 10.9.0.2 5000 $1 $2"
}

# ends BREAK MEND: a connection that sends ends, at both ends
ends()
{
	local client server

	serve "$smc serve 5000 1"
	wait_for up 5000 || return
	rm -f "$work/flows"
	ip netns exec nsA bounded bash -c "exec $smc outlive 10.9.0.2 5000 $work/flows" &
	client=$!
	wait_for test -e "$work/flows" && kill -0 "$client" && "$1" && wait "$client" &&
		wait "$server" && "$2"
}

all_down()
{
	jobs -p | xargs -r kill
	wait
	pair_down
	modprobe -r smc_diag
	modprobe -r smc
	mode_back
	rm -r "$work"
} >/dev/null 2>&1

trap all_down EXIT

# In shared mode each end sees both devices, and adds links between queue pairs of one of them.
exclusive || skip_all "other namespaces exist"
ktap_plan 25
check "two hosts"			hosts_up
check "SMC is loaded"			smc_up
check "a connection"			talk 1 4000000
check "eight at the same time"		talk 8 1000000
check "no client used TCP"		stat_is nsA fallbacks 0
check "no server used TCP"		stat_is nsB fallbacks 0
check "the client had nine connections"	stat_is nsA client_v2 9
check "the server had nine connections"	stat_is nsB server_v2 9
check "the client's bytes crossed"	crossed nsB sr1 12000000
check "the server's bytes crossed"	crossed nsA sr0 12000000
check_srnic "as WRITEs of the client"	counter_over nsB sr1 rx_write_requests 100
check_srnic "as WRITEs of the server"	counter_over nsA sr0 rx_write_requests 100
check_srnic "no request used loopback"	counter_is nsA sr0 local_requests 0

before=$(counter nsA sr0 retrans_pkts)
check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
check "in the other direction, too"	netem nsB veth1 loss 1%
check "two connections over that wire"	talk 2 1000000
check_srnic "packets were sent again"	counter_over nsA sr0 retrans_pkts "$before"
check "they used version 2"		stat_is nsA client_v2 11
check "SMC is unloaded"			smc_down

check "SMC is loaded again"		smc_up
check "the wire is cut"			ends wire_cut wire_joined
check "the device of one end is gone"	ends peer_dies peer_returns
check "two connections after that"	talk 2 1000000
check "they used version 2, too"	stat_is nsA client_v2 4
check "link groups end with devices"	devices_anew
ktap_end
