# SPDX-License-Identifier: GPL-2.0
# srnic selftests - two hosts in one kernel, or in two where machines.sh has two machines
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#       10.9.0.1  fd09::1       10.9.0.2  fd09::2
#
#   pair_up [MTU]            create that (MTU 4200); TYPE=rxe for another driver,
#                            TYPE_A and TYPE_B for one at each end
#   on NS COMMAND...         run it on that host
#   link_add NS LINK NETDEV TYPE  create a link
#   pair TOOL ARGUMENT...    a perftest: server on nsB, client on nsA
#   retries_run_out PAIR...  the client of that pair gets RETRY_EXC
#   flow_up TOOL ARGUMENT...  start one that does not end, as $server and $client
#   flow_down                kill it
#   by_itself COMMAND...     pair or flow_up on sr0 alone
#   dismiss                  stop the process $server
#   gid_index NS DEV PATTERN print the index of a GID
#   pingpong KIND ARGUMENT...  ibv_KIND_pingpong: server on nsB, client on nsA, by
#                            IPv4 or the indices GID_A and GID_B
#   listening NS PORT        a process there accepts TCP connections
#   cm_listens NS [ADDRESS]  a process there accepts connections of rdma_cm
#   until_accepted COMMAND...  repeat while the client is rejected
#   setting NS DEV NAME [VALUE]
#                            print an attribute of an srnic device, or set it
#   counter NS DEV NAME      print a hardware counter
#   counter_is, counter_over NS DEV NAME VALUE
#   crossed NS DEV BYTES     that many have arrived there, by its counters
#   check_srnic WHAT COMMAND...  a check of a counter that other drivers lack
#   drop_nth NS DEV N [M]    drop the Nth RoCE packet that leaves DEV, or the Nth to
#                            the Mth
#   netem NS DEV ARGUMENT... apply tc's netem to RoCE packets that leave DEV
#   clear_wire               end all faults of the wire
#   need_python MODULE...    skip the script where the distribution's Python lacks one
#   cases NS [ARGUMENT...]   run the Python program of the same name on that host; its checks
#                            become checks of this script
#   kernel_since VERSION     this kernel is not older
#   has_workers              this kernel can give processes a thread of the device
#   shared FILE              print the path of a file that is in tools/ of this tree, or installed
#                            in /usr/share/srnic
#
# Everything is removed when the script ends, however it ends.  Two closing checks
# follow: no RDMA object is left, and the kernel log is clean.
# shellcheck shell=bash

selftests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$selftests/lib/ktap.sh"

# srnic-doctor and srnic-top of this tree, else those that are installed
[ ! -d "$selftests/../tools" ] || PATH=$(realpath "$selftests/../tools"):$PATH

TYPE=${TYPE:-srnic}
TYPE_A=${TYPE_A:-$TYPE}
TYPE_B=${TYPE_B:-$TYPE}
ktap_closing+=(no_object_is_left the_kernel_log_is_clean)

((EUID == 0)) || skip_all "only root makes hosts"
modinfo srnic >/dev/null 2>&1 || skip_all "this kernel has no srnic: make install"

kernel_log_mark="selftest ${0##*/} $$"
objects_before=
cm_listener=	# process ID and cpu_ticks of the process last seen listening

need_python()
{
	local modules=$*

	/usr/bin/python3 -c "import ${modules// /, }" 2>/dev/null ||
		skip_all "the distribution's Python lacks one of $modules"
}

kernel_since()
{
	[ "$(printf '%s\n%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

has_workers()
{
	kernel_since 6.10 && grep -qw vhost_task_create /proc/kallsyms
}

on()
{
	ip netns exec "$@"
}

cases()
{
	local ns=$1

	shift
	ktap_relay on "$ns" /usr/bin/python3 "${0%.sh}.py" "$@"
}

# host_new NS TYPE: create an empty host.  rdma_rxe before 7.0 receives only in the initial
# namespace, so that is its host if the other one is of another type.
host_new()
{
	if [ "$2" = rxe ] && [ "$TYPE_A" != "$TYPE_B" ]; then
		ip netns attach "$1" 1
	else
		ip netns add "$1"
	fi
}

# host_empty NS: no process is left there
host_empty()
{
	[ "/run/netns/$1" -ef /proc/1/ns/net ] ||
		ip netns pids "$1" 2>/dev/null | xargs -r kill -9
}

# host_up NS DEV LINK NUMBER TYPE
host_up()
{
	ip -n "$1" -batch - <<-EOT
		link set lo up
		addr add 10.9.0.$4/24 dev $2
		addr add fd09::$4/64 dev $2 nodad
		link set $2 up
	EOT
	link_add "$1" "$3" "$2" "$5"
}

# link_add NS LINK NETDEV TYPE: in that host, also if devices belong to one namespace each:
# rdma_rxe creates its devices in the initial one.
link_add()
{
	on "$1" rdma link add "$2" type "$4" netdev "$3" || return
	on "$1" rdma link show "$2/1" >/dev/null || rdma dev set "$2" netns "$1"
}

# gid_ready NS DEV: the link is up and both addresses have a GID, among the first.
gid_ready()
{
	local gids

	on "$1" rdma link show "$2/1" | grep -q 'state ACTIVE' || return 1
	gids=$(on "$1" sh -c "cat /sys/class/infiniband/$2/ports/1/gids/?" 2>/dev/null)
	[[ $gids == *ffff:0a09:* && $gids == *fd09:* ]]
}

pair_up()
{
	local mtu=${1:-4200}

	pair_down	# remove the hosts of a script that was killed
	host_new nsA "$TYPE_A" && host_new nsB "$TYPE_B" || return
	ip link add veth0 mtu "$mtu" netns nsA type veth \
		peer name veth1 mtu "$mtu" netns nsB || return
	host_up nsA veth0 sr0 1 "$TYPE_A" &&
		host_up nsB veth1 sr1 2 "$TYPE_B" || return
	wait_for gid_ready nsA sr0 && wait_for gid_ready nsB sr1 || return
	objects_before=$(objects)
}

pair_down()
{
	local link ns

	for ns in nsA nsB; do
		[ -e "/run/netns/$ns" ] || continue
		host_empty "$ns"
		for link in sr0 sr1; do
			on "$ns" rdma link del "$link"
		done
		ip -n "$ns" link del veth0 || ip -n "$ns" link del veth1
		ip netns del "$ns"
	done 2>/dev/null
	objects_before=
}

trap pair_down EXIT
trap 'exit 130' INT TERM
echo "$kernel_log_mark" >/dev/kmsg 2>/dev/null

# listening NS PORT
listening()
{
	on "$1" ss -Hltn "sport = :$2" | grep -q .
}

# cpu_ticks PID: print its processor time
cpu_ticks()
{
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
} 2>/dev/null

# cm_listens NS [ADDRESS]: a process there accepts requests of rdma_cm.  Its id is in state
# LISTEN a moment too early, within the system call; afterwards the process sleeps, or polls
# and has soon had more processor time than that call takes.
cm_listens()
{
	local id now pid

	id=$(on "$1" rdma res show cm_id | grep 'state LISTEN' |
		grep -m 1 -F -e "${2:-}" -e 0.0.0.0 -e "[::]") &&
		[[ $id =~ \ pid\ ([0-9]+) ]] || return
	pid=${BASH_REMATCH[1]}
	! asleep "$pid" || return 0
	now=$(cpu_ticks "$pid")
	[ "${cm_listener% *}" = "$pid" ] || cm_listener="$pid $now"
	((now >= ${cm_listener#* } + 25))
}

# until_accepted COMMAND...: repeat a client that its server rejects, for datagrams with
# IB_SIDR_UNSUPPORTED.  With perftest -R and qperf both ends agree to connect a moment before
# the server listens.
until_accepted()
{
	local end=$((SECONDS + KTAP_BOUND)) said

	while ((SECONDS < end)); do
		said=$("$@" 2>&1) && return
		echo "$said"
		grep -qiE 'rejected|UNREACHABLE; error: 1\.' <<<"$said" || return
	done
	ktap_late "$*"
	return 1
}

dismiss()
{
	kill "$server"
	wait "$server"
} 2>/dev/null

# the server's host and device, the client's, and the server's address, for pair and flow_up
pair_ends=(nsB sr1 nsA sr0 10.9.0.2)

by_itself()
{
	local pair_ends=(nsA sr0 nsA sr0 10.9.0.1)

	"$@"
}

# pair_server COMMAND...: start it, and wait until it listens
pair_server()
{
	ip netns exec "${pair_ends[0]}" "$@" -d "${pair_ends[1]}" >/dev/null 2>&1 &
	server=$!
	wait_for listening "${pair_ends[0]}" 18515
}

# pair_client COMMAND...: run it in place of this process
pair_client()
{
	exec ip netns exec "${pair_ends[2]}" "$@" -d "${pair_ends[3]}" "${PEER:-${pair_ends[4]}}"
}

# pair TOOL ARGUMENT...: print the client's output; fail if either side does.  PEER is the
# server's address, QP_TIMEOUT the ACK timeout, so long by default that it does not expire on
# a busy machine; the command in the array pair_as runs the tools.
pair()
{
	local command=(bounded "${pair_as[@]}" "$1" -F -u "${QP_TIMEOUT:-21}" "${@:2}") server

	if ! pair_server "${command[@]}" || ! (pair_client "${command[@]}"); then
		dismiss
		return 1
	fi
	wait "$server"
}

retries_run_out()
{
	local said

	said=$("$@" 2>&1) && return 1
	echo "$said"
	grep -q 'status 12' <<<"$said"
}

flow_up()
{
	local command=("$1" -F -u "${QP_TIMEOUT:-21}" --run_infinitely "${@:2}")

	client=
	pair_server "${command[@]}" || return
	pair_client "${command[@]}" >/dev/null 2>&1 &
	client=$!
}

flow_down()
{
	kill -9 ${client:+"$client"} "$server"
	wait ${client:+"$client"} "$server"
	return 0
} 2>/dev/null

gid_index()
{
	# One process for all 256 of them
	# shellcheck disable=SC2016 # for that shell
	on "$1" sh -c '
		cd "/sys/class/infiniband/$1/ports/1/gids" || exit
		for index in *; do
			read -r gid <"$index" || continue
			case $gid in
			$2) echo "$index"; exit ;;
			esac
		done
		exit 1' sh "$2" "$3" 2>/dev/null
}

pingpong()
{
	local a=${GID_A:-} b=${GID_B:-} server tool=ibv_$1_pingpong

	shift
	a=${a:-$(gid_index nsA sr0 '*ffff:0a09:*')}
	b=${b:-$(gid_index nsB sr1 '*ffff:0a09:*')}
	on nsB bounded "$tool" -d sr1 -g "$b" "$@" &
	server=$!
	wait_for listening nsB 18515 || return
	on nsA bounded "$tool" -d sr0 -g "$a" "$@" 10.9.0.2 &&
		wait "$server"
}

setting()
{
	local file=/sys/class/infiniband/$2/$3

	# shellcheck disable=SC2016 # for that shell
	if [ $# -gt 3 ]; then
		on "$1" bash -c 'echo "$2" >"$1"' bash "$file" "$4"
	else
		on "$1" cat "$file"
	fi
}

counter()
{
	on "$1" rdma statistic show link "$2/1" | tr " " "\n" |
		awk -v name="$3" 'found { print; exit } $1 == name { found = 1 }'
}

counter_is()
{
	local now

	now=$(counter "$1" "$2" "$3")
	[ "${now:--1}" -eq "$4" ] || { echo "$3 of $2 is ${now:-missing}, not $4"; return 1; }
}

counter_over()
{
	local now

	now=$(counter "$1" "$2" "$3")
	[ "${now:--1}" -gt "$4" ] || { echo "$3 of $2 is ${now:-missing}, not over $4"; return 1; }
}

# rdma_rxe counts packets alone.
crossed()
{
	if [ -n "$(counter "$1" "$2" rcvd_bytes)" ]; then
		counter_over "$1" "$2" rcvd_bytes "$3"
	else
		counter_over "$1" "$2" rcvd_pkts $(($3 / 4200))
	fi
}

check_srnic()
{
	if [ "$TYPE" = srnic ]; then
		check "$@"
	else
		skip "$1" "$TYPE does not count that"
	fi
}

# wire_made: tun_wire.py, whose output is file descriptor $wire, has created its netdevs
wire_made()
{
	# shellcheck disable=SC2154 # the script's
	read -r -t "$KTAP_BOUND" -u "$wire" && return
	ktap_late tun_wire.py
	return 1
}

# wire_end NS DEV: print the host and device at the other end, where packets can be handled
# one by one: at the sender a GSO chain is one skb.
wire_end()
{
	on "$1" ethtool -K "$2" tx-gso-list off tx-udp-segmentation off >/dev/null
	case $2 in
	veth0) echo nsB veth1 ;;
	veth1) echo nsA veth0 ;;
	*) return 1 ;;
	esac
}

drop_nth()
{
	local dev ns

	read -r ns dev < <(wire_end "$1" "$2")
	on "$ns" nft "table netdev wire {
		chain $dev {
			type filter hook ingress device $dev priority 0;
			udp dport 4791 numgen inc mod 1000000000 $(($3 - 1))${4:+-$(($4 - 1))} counter drop
		}
	}"
}

netem()
{
	local dev from=$1 ip ns out=$2

	shift 2
	read -r ns dev < <(wire_end "$from" "$out")
	on "$ns" modprobe -q ifb numifbs=0
	on "$ns" ip link add "ifb-$dev" type ifb
	on "$ns" ip link set "ifb-$dev" up
	on "$ns" tc qdisc add dev "ifb-$dev" root netem "$@"
	on "$ns" tc qdisc add dev "$dev" clsact
	for ip in ip ipv6; do
		on "$ns" tc filter add dev "$dev" ingress protocol "$ip" \
			flower ip_proto udp dst_port 4791 \
			action mirred egress redirect dev "ifb-$dev" || return
	done
}

clear_wire()
{
	local dev end ns

	for end in nsA/veth0 nsB/veth1; do
		ns=${end%/*} dev=${end#*/}
		on "$ns" nft delete table netdev wire
		on "$ns" tc qdisc del dev "$dev" clsact
		ip -n "$ns" link del "ifb-$dev"
	done 2>/dev/null
	return 0
}

shared()
{
	local dir

	for dir in "$selftests/../tools" /usr/share/srnic; do
		[ ! -e "$dir/$1" ] || { realpath "$dir/$1"; return; }
	done
	return 1
}

# objects: print the numbers of objects that the RDMA core counts for our links
objects()
{
	{
		rdma res show
		on nsA rdma res show
		on nsB rdma res show
	} 2>/dev/null | sed 's/^[0-9]*: //' | grep -E '^sr[0-9]+:' | sort
}

objects_are_back()
{
	[ "$(objects)" = "$objects_before" ]
}

no_object_is_left()
{
	[ -n "$objects_before" ] || return 0
	wait_freed objects_are_back && return
	printf 'before:\n%s\nnow:\n%s\n' "$objects_before" "$(objects)"
	return 1
}

the_kernel_log_is_clean()
{
	! dmesg | sed "1,/$kernel_log_mark/d" |
		grep -E -m 1 -A 40 -f "$selftests/lib/bad-log"
}

[ -z "${MACHINE:-}" ] || . "$selftests/lib/machines.sh"
