#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Unloading the module waits for a program that is stuck in a command of its device, without
# delaying anything else on the host.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma python3
modprobe -q ib_uverbs	# unless an earlier script has loaded it

here=$(dirname "$0")
said=$(mktemp)

user_is_stuck()
{
	ip netns exec nsA "$here/stuck.py" sr0 >"$said" &
	user=$!
	wait_for grep -qx stuck "$said"
}

# unloading: the module is being unloaded
unloading()
{
	grep -qx going /sys/module/srnic/initstate
}

unload_waits()
{
	modprobe -r srnic &
	unload=$!
	wait_for unloading && wait_for eval '! on nsB rdma link show sr1/1' &&
		unloading && kill -0 "$unload"
} 2>/dev/null

namespaces_come_and_go()
{
	bounded ip netns add nsC && ip netns del nsC && unloading
}

module_goes()
{
	kill "$user"
	wait "$user" && wait "$unload" && [ ! -e /sys/module/srnic ]
}

ktap_plan 6
check "two hosts"				pair_up
check "a program is stuck in a command"		user_is_stuck
check "the module waits for it"			unload_waits
check "network namespaces come and go"		namespaces_come_and_go
check "the command ends, and the module is gone" module_goes
pair_down
modprobe srnic
check "links once more"				pair_up
rm -f "$said"
ktap_end
