#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ibv_query_port_speed() reports the speed of the network device, in units of 100 Mbit/s, or 0
# while the port is down.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma python3 ip
/usr/bin/python3 -c 'from pyverbs.device import Context; Context.query_port_speed' 2>/dev/null ||
	skip_all "this rdma-core has no ibv_query_port_speed()"
(($(uname -r | cut -d. -f1) >= 7)) || skip_all "this kernel does not report the speed"

# speed_is SPEED
speed_is()
{
	on nsA /usr/bin/python3 - "$1" <<-'EOT'
		import sys
		from pyverbs.device import Context

		speed = Context(name="sr0").query_port_speed(1)
		sys.exit(f"it is {speed}" if speed != int(sys.argv[1]) else 0)
	EOT
}

down()
{
	on nsA ip link set veth0 down && speed_is 0
}

ktap_first "two hosts" pair_up
ktap_plan 2
check "the 10 Gbit/s of a veth"		speed_is 100
check "none while the port is down"	down
ktap_end
