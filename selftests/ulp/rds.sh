#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reliable Datagram Sockets (RDS) over RDMA: messages arrive once and in order, with their
# contents, on a reliable wire and on one that loses packets; after the wire was cut, and after
# the device of one end was gone, both of which they outlast; and messages with an RDMA operation
# arrive after its data.  Atomics fail, with masks or without, and change nothing: RDS registers
# memory without the right for them.
#
#   10.9.0.1 [sr0] veth0 ================ veth1 [sr1] 10.9.0.2
#
# Both are in the initial namespace, the only one that RDS over RDMA knows.
#
# run: RDS | linux
#   | module rds_rdma, with ``rds_ib_retry_count=7`` where packets may be lost; the initial network
#   namespace; for atomics, memory of a file in persistent memory (DAX)
#   | ``modprobe rds_rdma rds_ib_retry_count=7``, then sockets of ``AF_RDS``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"

need rdma python3 tc ethtool
modinfo rds_rdma >/dev/null 2>&1 || skip_all "no rds_rdma"
! grep -q '^rds ' /proc/modules || skip_all "RDS is in use here"

work=$(mktemp -d)
flow=	# process ID

rds()
{
	bounded /usr/bin/python3 "$selftests/ulp/rds.py" "$@"
}

# connected: a reliable connection of sr0 can send
connected()
{
	rdma res show qp link sr0/1 | grep 'type RC .*state RTS'
}

# arrive: messages of both ends, sent from now on
arrive()
{
	rm -f "$work"/flow.* && wait_for test -e "$work/flow.10.9.0.1" &&
		wait_for test -e "$work/flow.10.9.0.2"
}

# outlasts BREAK MEND: messages flow meanwhile
outlasts()
{
	touch "$work/flow"
	rds flow "$work/flow" &
	flow=$!
	arrive && "$1" && wait_for fails connected && "$2" && wait_for connected && arrive &&
		flow_ends
}

# flow_ends: both directions, with all that was sent
flow_ends()
{
	rm -f "$work"/flow*
	[ -z "$flow" ] || wait "$flow"
}

all_down()
{
	flow_ends
	modprobe -r rds_rdma rds
	self_down
	rm -r "$work"
} >/dev/null 2>&1

trap all_down EXIT

ktap_plan 22
check "two devices and a wire"		self_up
check "RDS is loaded"			modprobe rds_rdma rds_ib_retry_count=7
check "messages of all sizes"		rds sizes
check "messages of several sockets"	rds order
check "messages after an RDMA WRITE"	rds write
check "messages after an RDMA READ"	rds read
check "10.9.0.1's bytes crossed"	crossed nsB sr1 5000000
check "10.9.0.2's bytes crossed"	crossed nsA sr0 5000000
check_srnic "RDMA WRITEs crossed"	counter_over nsB sr1 rx_write_requests 6
check_srnic "RDMA READs crossed"	counter_over nsB sr1 rx_read_requests 6
check_srnic "atomics without the right"	rds no-right
check_srnic "none was executed"		counter_is nsB sr1 rx_atomic_requests 0
check_srnic "no request used loopback"	counter_is nsA sr0 local_requests 0

check "the wire is cut"			outlasts wire_cut wire_joined
check "one device is gone"		outlasts peer_dies peer_returns

before=$(counter nsA sr0 retrans_pkts)
check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
check "in the other direction, too"	netem nsB veth1 loss 1%
check "messages over that wire"		rds order
check "RDMA over that wire"		rds write
check_srnic "packets were sent again"	counter_over nsA sr0 retrans_pkts "$before"
check "the wire loses nothing again"	clear_wire
check "RDS is unloaded"			modprobe -r rds_rdma rds
ktap_end
