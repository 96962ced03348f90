#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The MTU of one machine, then of both, changes: connections made afterwards use the smaller
# path MTU.
#
#   A: nsA [sr0] veth0 ======== veth1 [sr1] nsB: B
# shellcheck disable=SC2154 # machines.sh sets it

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw rping ibv_devinfo

# active_mtu_is NS BYTES
active_mtu_is()
{
	on "$1" ibv_devinfo -d "${link_of[$1]}" | grep -q "active_mtu:.*$2 "
}

# mtu NS DEV MTU ACTIVE
mtu()
{
	on "$1" ip link set "$2" mtu "$3" && wait_for active_mtu_is "$1" "$4"
}

# from_b: perftest negotiates the smaller MTU; rdma_cm uses that of the client
from_b()
{
	program nsB nsA rping -V -S 65000 -C 10 &&
		program nsB nsA ib_write_bw -s 65536 -n 50 &&
		program nsA nsB ib_write_bw -s 65536 -n 50
}

both_ways()
{
	program nsA nsB rping -V -S 65000 -C 10 && from_b
}

ktap_plan 10
check "two machines at MTU 4200"	pair_up
check "path MTU 4096"			active_mtu_is nsA 4096
check "data both ways"			both_ways
check "MTU 1500 on B"			mtu nsB veth1 1500 1024
check "data both ways, A has 4096"	from_b
check "MTU 1500 on A"			mtu nsA veth0 1500 1024
check "data both ways at 1024"		both_ways
check "MTU 700 on both"			mtu nsA veth0 700 512
check "on B, too"			mtu nsB veth1 700 512
check "data both ways at 512"		both_ways
ktap_end
