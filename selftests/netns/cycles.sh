#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A hundred connections are created and destroyed, and no object remains.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make
vrb_make

# cycles N M: open both devices N times, and each time connect, transfer data and
# disconnect M times
cycles()
{
	local i

	for ((i = 0; i < $1; i++)); do
		vrb -n 1 -r "$2" soak || { echo "cycle $i"; return 1; }
	done
}

# link_cycles N: create and delete the links, with a connection in between
link_cycles()
{
	local i

	for ((i = 0; i < $1; i++)); do
		on nsA rdma link del sr0 || return
		on nsA rdma link add sr0 type "$TYPE" netdev veth0 || return
		wait_for gid_ready nsA sr0 || return
		vrb -n 1 soak || { echo "cycle $i"; return 1; }
	done
}

ktap_plan 4
check "two hosts"			pair_up
check "a hundred connections"		cycles 10 10
check "no object is left"		no_object_is_left
check "ten links, each connected"	link_cycles 10
ktap_end
