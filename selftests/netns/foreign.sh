#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Root of a user namespace that has an RDMA device but not its netdev cannot receive the
# frames of that netdev.
#
#   nsA [sr0] veth0 ==== veth1 nsB, [sr1] nsU

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/exclusive.sh"

need rdma ip unshare nsenter
need_python pyverbs.qp

owner=

at_end()
{
	ip netns del nsU
	kill "$owner"
	pair_down
	mode_back
} 2>/dev/null

trap at_end EXIT

# makes NS TYPE [WRAPPER...]: a queue pair on sr1
makes()
{
	on "$1" "${@:3}" /usr/bin/python3 - "$selftests/lib" "$2" <<-END
		import sys
		sys.path.insert(0, sys.argv[1])
		from lone import Lone
		Lone("sr1", "10.9.0.2", "10.9.0.1", kind=sys.argv[2]).close()
	END
}

# foreign TYPE: as root of the user namespace; what is in /sys was mounted by the host's root
foreign()
{
	makes nsU "$1" nsenter -t "$owner" -U
}

# is_apart PID: it has a network namespace of its own
is_apart()
{
	! [ "/proc/$1/ns/net" -ef /proc/self/ns/net ]
}

device_moves()
{
	unshare --user --map-root-user --net tail -f /dev/null &
	owner=$!
	wait_for is_apart "$owner" && ip netns attach nsU "$owner" && on nsB rdma dev set sr1 netns nsU &&
		wait_for foreign UD
}

may_not()
{
	foreign "$1" 2>&1 | grep -q 'Operation not permitted'
}

sr1_at_home()
{
	rdma link show | grep -q 'link sr1/'
}

device_returns()
{
	ip netns del nsU
	kill "$owner"
	wait_for sr1_at_home && rdma dev set sr1 netns nsB && wait_for makes nsB RAW
}

exclusive || skip_all "other namespaces exist"
ktap_plan 4
check "two hosts"				pair_up
check "root of another namespace has it"	device_moves
check "but not the frames of its netdev"	may_not RAW
check "which the root of the host has"		device_returns
ktap_end
