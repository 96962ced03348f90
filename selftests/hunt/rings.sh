#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that write what they like into the rings they share harm nobody else.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# While one process maltreats its rings, another one has every byte of its own
# traffic verified: over packets and over the loopback, with doorbells and polled.

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/hunt.sh"

loopback=(-a sr0@nsA -b sr0@nsA)
entries=$(hunt_num 300 20000)	# of a life
lives=$(hunt_num 1 16)

# storm POLL-USECS ARGUMENT...: the neighbour is at it as long as the hostile one
storm()
{
	local hostile status=0

	echo "$1" >/sys/module/srnic/parameters/poll_usecs
	shift
	"${hunt_dir:?}/hunt-rings" "$@" -s "$SEED" -n "$entries" -r "$lives" &
	hostile=$!
	while ((status == 0)) && kill -0 "$hostile" 2>/dev/null; do
		vrb -n 2 "$@" "${topics[@]}" >"$neighbour" || status=$?
	done
	((status == 0)) || ktap_failures <"$neighbour"
	wait "$hostile" && return "$status"
}

need rdma gcc make
vrb_make
hunt_make
hunt_seed
pair_up || exit
sysctl -qw net.core.netdev_max_backlog=10000	# datagrams get lost in a full one
hunt_areas
neighbour=$(mktemp)
# but for what counts wrong Q_Keys, as the hostile one has some on the same device
mapfile -t topics < <(vrb -l soak uc ud xrc | grep -v "a wrong Q_Key is .* counted")

ktap_plan 5
check "by packets"			storm 0
check "by packets, polled"		storm 20000
check "by loopback"			storm 0 "${loopback[@]}"
check "by loopback, polled"		storm 20000 "${loopback[@]}"
echo 0 >/sys/module/srnic/parameters/poll_usecs
check "the rings are back"		wait_for 10 areas_are_back
rm -f "$neighbour"
ktap_end
