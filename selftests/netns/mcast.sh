#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mckey's datagrams reach the members of their group, and the host leaves the group after
# they have ended.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: mckey | rdmacm-utils
#   | module rdma_ucm
#   | ``mckey -m 239.1.2.3 -b 10.9.0.1 -s``; members without ``-s``

. "$(dirname "$0")/../lib/netns.sh"

need rdma mckey stdbuf

group=239.1.2.3
mac=01:00:5e:01:02:03

# joined FILE
joined()
{
	grep -q 'joined dgid' "$1"
}

# member NS DEV: the netdev accepts frames for the group
member()
{
	ip -n "$1" maddr show dev "$2" | grep -q "$mac"
}

no_member()
{
	! member "$1" "$2"
}

# server NS ADDR FILE: a member that waits for ten datagrams
server()
{
	on "$1" bounded stdbuf -oL mckey -m "$group" -b "$2" >"$3"
}

# client NS ADDR: sends ten
client()
{
	on "$1" bounded mckey -m "$group" -b "$2" -s
}

# cast NS ADDR SERVER...: send ten datagrams to all servers, each "NS ADDR"
cast()
{
	local from=$1 addr=$2 dir member pids=() status=0

	shift 2
	dir=$(mktemp -d)
	for member; do
		# shellcheck disable=SC2086 # two words
		server $member "$dir/${#pids[@]}" &
		pids+=($!)
		wait_for joined "$dir/$((${#pids[@]} - 1))" || status=1
	done
	client "$from" "$addr" || status=1
	for member in "${pids[@]}"; do
		wait "$member" || status=1
	done
	cat "$dir"/*
	rm -r "$dir"
	return "$status"
}

ktap_plan 8
check "two hosts"		pair_up
check "to the other host"	cast nsA 10.9.0.1 "nsB 10.9.0.2"
check "and back"		cast nsB 10.9.0.2 "nsA 10.9.0.1"
check "to two on one host"	cast nsA 10.9.0.1 "nsB 10.9.0.2" "nsB 10.9.0.2"
check "to both hosts"		cast nsA 10.9.0.1 "nsA 10.9.0.1" "nsB 10.9.0.2"
check "the group is left on A"	no_member nsA veth0
check "the group is left on B"	no_member nsB veth1
check "no Q_Key was wrong"	counter_is nsB sr1 rx_bad_qkey 0
ktap_end
