#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A machine is switched off, and whoever talked to it gets RETRY_EXC and can free everything.
#
#   A: nsA [sr0] veth0 ======== veth1 [sr1] nsB: B, which loses its power
# shellcheck disable=SC2154 # machines.sh sets it

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ib_read_bw ib_send_bw

QP_TIMEOUT=18	# 1 s, which expires at the end
TOOLS=(ib_write_bw ib_read_bw ib_send_bw)
out=$(mktemp -d)
trap 'rm -rf "$out"; pair_down' EXIT
declare -A clients

# busy TOOL: an endless run of it
busy()
{
	server nsB "$1" -D 3600 && disown "$server" || return
	client nsA nsB "$1" -D 3600 >"$out/$1" 2>&1 &
	clients[$1]=$!
	wait_for completed "$1"
}

# completed TOOL: work requests of it; until then it may wait for its server by TCP
completed()
{
	rdma -dd resource show qp link sr0/1 | grep -q " comm $1 .* drv_sq_tail [1-9]"
}

told()
{
	grep 'status 12' "$out/$1"
}

# gives_up TOOL: its work request failed; the tool may still wait for its peer
gives_up()
{
	wait_for told "$1" || { cat "$out/$1"; return 1; }
	pkill -9 "$1"
	wait "${clients[$1]}"
	true
}

# still_there: the other machine answers nothing
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
