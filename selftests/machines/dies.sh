#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A machine is switched off: its peers get RETRY_EXC and can free all objects.
#
#   A: nsA [sr0] veth0 ======== veth1 [sr1] nsB: B, which loses its power

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ib_read_bw ib_send_bw

QP_TIMEOUT=18	# 1 s, which expires at the end
TOOLS=(ib_write_bw ib_read_bw ib_send_bw)

# still_there: the other machine answers
still_there()
{
	there true
}

link_deleted()
{
	bounded rdma link del sr0 && bounded rmmod srnic && modprobe srnic
}

ktap_plan 11
check "two machines"	pair_up 1500	# mtu.sh may have run
for tool in "${TOOLS[@]}"; do
	check "$tool is busy"	busy "$tool"
done
check "B loses its power"	power_off_there
check "it does not answer"	fails still_there
for tool in "${TOOLS[@]}"; do
	check "$tool fails with RETRY_EXC"	gives_up "$tool"
done
check "no object is left on A"	no_object_is_left
objects_before=
check "link and module can be removed"	link_deleted
ktap_end
