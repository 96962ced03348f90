#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The settings of a device have defaults and bounds, are those of one device, apply to
# existing queue pairs, and are out of reach of containers.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw setpriv unshare
trap 'ip netns del nsC 2>/dev/null; pair_down' EXIT

range="Numerical result out of range"
invalid="Invalid argument"
not_permitted="Operation not permitted"
denied="Permission denied"

# are NS DEV NAME=VALUE...
are()
{
	local dev=$2 ns=$1 one status=0

	shift 2
	for one; do
		[ "$(setting "$ns" "$dev" "${one%=*}")" = "${one#*=}" ] && continue
		echo "$one of $dev is $(setting "$ns" "$dev" "${one%=*}")"
		status=1
	done
	return "$status"
}

# set_all NS DEV NAME=VALUE...
set_all()
{
	local dev=$2 ns=$1 one

	shift 2
	for one; do
		setting "$ns" "$dev" "${one%=*}" "${one#*=}" || return
	done
}

# refused ERROR COMMAND...: the command fails with that error
refused()
{
	local error=$1 said

	shift
	if said=$("$@" 2>&1); then
		echo "it has succeeded"
		return 1
	fi
	echo "$said"
	grep -q "$error" <<<"$said"
}

# writes COMMAND...: it is to write a setting of sr0
writes()
{
	"$@" bash -c 'echo 0 >/sys/class/infiniband/sr0/ecn'
}

# writes_anyway COMMAND...: even if that file is read-only, for root owns it
writes_anyway()
{
	"$@" bash -c 'cd /sys/class/infiniband/sr0 && chmod u+w ecn && echo 0 >ecn'
}

# The initial namespace has the device itself, and nsA its netdev.
initial_writes()
{
	writes env && are nsA sr0 ecn=0 && setting nsA sr0 ecn 1
}

# in_container COMMAND...: root of a user namespace, with a network of its own
in_container()
{
	# shellcheck disable=SC2016 # for that shell
	unshare --user --map-root-user --net --mount \
		bash -c 'mount -t sysfs none /sys && exec "$@"' bash "$@"
}

seen_in_container()
{
	[ "$(in_container cat /sys/class/infiniband/sr0/ecn)" = 1 ]
}

# max_qp NS DEV
max_qp()
{
	on "$1" ibv_devinfo -v -d "$2" | awk '$1 == "max_qp:" { print $2 }'
}

shares()
{
	local all half

	all=$(max_qp nsA sr0) half=$(max_qp nsB sr1)
	echo "$all, $half"
	((all == 4 * half))
}

link_again()
{
	on nsA rdma link del sr0 && on nsA rdma link add sr0 type "$TYPE" netdev veth0 &&
		wait_for gid_ready nsA sr0
}

local_flow()
{
	by_itself flow_up ib_write_bw -s 4096 && grows local_requests
}

# grows COUNTER: of sr0
grows()
{
	wait_for counter_over nsA sr0 "$1" "$(counter nsA sr0 "$1")"
}

# by_packets: so do those that exist, without any loopback once a packet has been sent
by_packets()
{
	local before

	setting nsA sr0 loopback 0 && grows sent_pkts || return
	before=$(counter nsA sr0 local_requests)
	grows sent_pkts && counter_is nsA sr0 local_requests "$before"
}

again()
{
	setting nsA sr0 loopback 1 && grows local_requests
}

defaults=(ecn=1 integrity=0 loopback=1 odp_fallback=0 poll=1 rx_kbytes=131072 sack=1 user_share=25)
least=(ecn=0 integrity=0 loopback=0 odp_fallback=0 poll=0 rx_kbytes=0 sack=0 user_share=1)
most=(ecn=1 loopback=1 odp_fallback=1 poll=1 rx_kbytes=4294967295 sack=1 user_share=100)

ktap_plan 39
check "two hosts"			pair_up
check "defaults"			are nsA sr0 "${defaults[@]}"
check "defaults there"			are nsB sr1 "${defaults[@]}"
for one in ecn=2 integrity=2 loopback=2 odp_fallback=2 poll=2 rx_kbytes=4294967296 \
	   sack=2 user_share=0 user_share=101; do
	check "out of range: $one"	refused "$range" set_all nsA sr0 "$one"
done
for one in ecn=Y loopback=-1 sack=Y user_share=; do
	check "not a number: $one"	refused "$invalid" set_all nsA sr0 "$one"
done
check "nothing has changed"		are nsA sr0 "${defaults[@]}"
check "the least"			set_all nsA sr0 "${least[@]}"
check "are set"				are nsA sr0 "${least[@]}"
check "the most"			set_all nsA sr0 "${most[@]}"
check "are set"				are nsA sr0 "${most[@]}"
check "the other device has its own"	are nsB sr1 "${defaults[@]}"
check "users have all of sr0, and a quarter of sr1"	shares
check "another link"			link_again
check "has the defaults"		are nsA sr0 "${defaults[@]}"

check "root without CAP_NET_ADMIN"	refused "$not_permitted" writes \
	on nsA setpriv --bounding-set -net_admin --inh-caps -net_admin
check "root of a user namespace"	refused "$not_permitted" writes \
	on nsA unshare --user --map-root-user
if rdma system show | grep -q 'netns shared'; then
	check "the initial namespace writes"	initial_writes
	check "another namespace"	ip netns add nsC
	check "reads"			are nsC sr0 "${defaults[@]}"
	check "and cannot write"	refused "$denied" writes on nsC
	check "nor after chmod"		refused "$not_permitted" writes_anyway on nsC
	check "a container reads"	seen_in_container
	check "and cannot write"	refused "$denied" writes in_container
	check "nor after chmod"		refused "$not_permitted" writes_anyway in_container
else
	for one in "the initial namespace writes" "another namespace" "reads" "and cannot write" \
		"nor after chmod" "a container reads" "and cannot write" "nor after chmod"; do
		skip "$one"	"devices are not shared"
	done
fi
check "nothing has changed"		are nsA sr0 "${defaults[@]}"

check "two queue pairs of sr0"		local_flow
check "without loopback"		by_packets
check "with loopback again"		again
flow_down
ktap_end
