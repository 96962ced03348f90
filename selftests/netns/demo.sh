#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo refuses to run where a namespace or a device has a name that it would use, and
# leaves that alone.

. "$(dirname "$0")/../lib/netns.sh"

need rdma ip

demo=$(dirname "$0")/../demo.sh
[ -x "$demo" ] || skip_all "the demo is not installed"
trap 'rdma link del sr1 2>/dev/null; pair_down' EXIT

# refused WHAT: the demo fails before it does anything, and says which name is in use
refused()
{
	local said

	said=$("$demo" 2>&1) && return 1
	echo "$said"
	[[ $said == "demo: in use, "*"$1"* ]] && [ "$(wc -l <<<"$said")" = 1 ]
}

netns_is_there()
{
	ip netns exec nsB ip link show lo
}

device_is_there()
{
	rdma link show sr1/1
}

ktap_plan 6
check "a namespace nsB is created"		ip netns add nsB
check "the demo refuses to run"			refused "network namespace nsB"
check "the namespace is still there"		netns_is_there
pair_down
check "a device sr1 is created on lo"		rdma link add sr1 type "$TYPE" netdev lo
check "the demo refuses to run beside it"	refused "RDMA device sr1"
check "the device is still there"		device_is_there
rdma link del sr1
ktap_end
