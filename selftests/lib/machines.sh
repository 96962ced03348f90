# SPDX-License-Identifier: GPL-2.0
# srnic selftests - two hosts in two kernels; netns.sh sources it in a guest that is one of
# two machines (tools/lab/run --machines 2)
#
#   A: nsA [sr0] veth0 ======== wire ======== veth1 [sr1] nsB: B
#                line ----------------------- line
#
# Each host is the first network namespace of its machine, and its device the Ethernet
# device of the machine.  A script is started on both machines and runs on A; on B, the
# line that sources netns.sh does not return but executes commands of A until A is gone.  The
# functions of netns.sh work as in one kernel: "on nsB COMMAND" runs on B; but pair and
# flow_up have their counterparts below.
#
#   there COMMAND...         run a command, or a function of these libraries, on B; 255 if B
#                            is gone
#   power_off_there          B stops at once, without notice to A
#   program FROM TO TOOL ARGUMENT...  a client on the host FROM and its server on TO: a
#                            perftest, an ibv_*_pingpong or an rping, which gets the device,
#                            the GID and the address; FAMILY=6 for IPv6
#   server TO TOOL ARGUMENT...  sets server when it is ready
#   client FROM TO TOOL ARGUMENT...
#   busy TOOL                an endless perftest, the client on nsA and the server on nsB
#   gives_up TOOL            the client started by busy gets RETRY_EXC; then it is ended
#
# The Ethernet device of user-mode Linux can neither go down and up again nor return to an
# MTU above 1500.
# shellcheck shell=bash
# shellcheck disable=SC2154 # netns.sh has them

calls=/run/line
patience=$((4 * KTAP_BOUND / 5))	# number of nudges, 5 s apart, until a call fails
powered_off=

# --- both machines ------------------------------------------------------------

# line_device: print its name; in QEMU it has a driver
line_device()
{
	modprobe -q virtio_console
	# shellcheck disable=SC2086 # a pattern
	echo $LINE
}

line_there()
{
	[ -c "$(line_device)" ]
}

# line_open: sets line_fd
line_open()
{
	wait_for line_there || return
	exec {line_fd}<>"$(line_device)" || return
	[ ! -t "$line_fd" ] || stty -F "$(line_device)" raw -echo
}

# nic: print the name of the only Ethernet device
nic()
{
	local device

	device=$(echo /sys/class/net/*/device)
	[ -e "$device" ] && basename "${device%/device}"
}

# host_wired NS DEV MTU: a name for the first namespace and for its Ethernet device
host_wired()
{
	local ndev

	[ -e "/run/netns/$1" ] || ip netns attach "$1" 1 || return
	modprobe -q virtio_net
	wait_for nic >/dev/null && ndev=$(nic) || return
	[ "$ndev" = "$2" ] || ip link set "$ndev" name "$2" || return
	[ "$(<"/sys/class/net/$2/mtu")" = "$3" ] || ip link set "$2" mtu "$3" || return
	nic_open "$2" || return
	# so slow that softirqs would leave the processes no time
	[ "$SRNIC_KERNEL" != uml-debug ] || echo 1 >"/sys/class/net/$2/threaded"
}

# nic_open DEV: bring it up.  When it opens, the vector driver takes a lock of its NAPI poll
# with softirqs enabled; lockdep would report that and disable itself, so it pauses.
nic_open()
{
	local file=/proc/sys/kernel/prove_locking status=0 was

	was=$(cat "$file" 2>/dev/null)
	[ "$was" != 1 ] || echo 0 >"$file"
	ip link set "$1" up || status=$?
	[ "$was" != 1 ] || echo 1 >"$file"
	return "$status"
}

# host_down DEV LINK: the device itself stays up
host_down()
{
	rdma link del "$2"
	ip link del "ifb-$1"
	tc qdisc del dev "$1" clsact
	tc qdisc del dev "$1" root
	nft delete table netdev wire
	ip neigh flush dev "$1"
	ip addr flush dev "$1" scope global
	return 0
} 2>/dev/null

# --- machine B ----------------------------------------------------------------

# answer ID COMMAND: run it with its output in files, which A can read, too: a console of
# user-mode Linux stops receiving once it has been full
answer()
{
	local said=$RESULTS/line/$1 status=0

	KTAP_LATE=$said.late
	: >"$KTAP_LATE"
	eval "$2" >"$said" 2>"$said.err" </dev/null || status=$?
	sync "$said" "$said.err" "$said.late"
	printf '\n%s %d\n' "$1" "$status" >&"$line_fd"
}

# hush: kill the commands of an earlier script, each of which is a process group
hush()
{
	local group

	for group in $(jobs -p); do
		kill -9 -- "-$group" 2>/dev/null
	done
	wait
}

# serve: a script of A begins by "new MARK", its mark in the kernel log
serve()
{
	local command id

	mkdir -p "$RESULTS/line"
	line_open || exit
	exec 2>/dev/null	# where the shell says which answers it killed
	set -m
	while read -r -u "$line_fd" id command; do
		case $id/$command in
		gone/*) break ;;
		nudge/*) command=: ;;
		*/new\ *)
			hush
			kernel_log_mark=${command#new }
			echo "$kernel_log_mark" >/dev/kmsg
			command=:
			;;
		esac
		answer "$id" "$command" &
	done
	hush
	host_down veth1 sr1
	exit 0
}

# --- machine A ----------------------------------------------------------------

# call COMMAND-LINE: run it on B.  User-mode Linux may notice input only when more arrives, so
# a caller that waits for long nudges both machines.
call()
{
	local fifo id=$BASHPID.$RANDOM$RANDOM.call status='' tries=0

	mkfifo "$calls/$id" && exec {fifo}<>"$calls/$id" || return
	[ ! -e "$calls/gone" ] || status=255
	[ -n "$status" ] || printf '%s %s\n' "$id" "$1" >&"$line_fd"
	until [ -n "$status" ] || read -r -t 5 -u "$fifo" status; do
		((++tries < patience)) || { ktap_late "machine B: $1"; status=255; }
		echo "nudge" >&"$line_fd"
	done
	exec {fifo}>&-
	rm -f "$calls/$id"
	[ ! -s "$RESULTS/B/line/$id" ] || cat "$RESULTS/B/line/$id"
	[ ! -s "$RESULTS/B/line/$id.err" ] || cat "$RESULTS/B/line/$id.err" >&2
	[ ! -s "$RESULTS/B/line/$id.late" ] || ktap_late "$(<"$RESULTS/B/line/$id.late")"
	return "$status"
}

there()
{
	call "$(printf '%q ' "$@")"
}

on()
{
	if [ "$MACHINE/$1" = A/nsB ]; then
		there ip netns exec "$@"
	else
		ip netns exec "$@"
	fi
}

# line_begin: start the relay, which is not a job of this script and outlives it: if it ended, a
# reply for the next script could be lost
line_begin()
{
	mkdir -p "$calls"
	line_open || return
	if ! kill -0 "$(cat "$calls/relay" 2>/dev/null)" 2>/dev/null; then
		(setsid "$selftests/lib/relay" "$calls" <&"$line_fd" >/dev/null 2>&1 &)
	fi
	call "new $kernel_log_mark"
}

pair_up()
{
	pair_down
	host_wired nsA veth0 "${1:-4200}" && there host_wired nsB veth1 "${1:-4200}" &&
		host_up nsA veth0 sr0 1 "$TYPE_A" &&
		there host_up nsB veth1 sr1 2 "$TYPE_B" &&
		wait_for gid_ready nsA sr0 && wait_for gid_ready nsB sr1 || return
	objects_before=$(objects)
}

pair_down()
{
	host_down veth0 sr0
	[ -n "$powered_off" ] || there host_down veth1 sr1
	objects_before=
}

# objects: print the RDMA objects of both machines
objects()
{
	{
		rdma res show
		[ -n "$powered_off" ] || there rdma res show
	} | sed 's/^[0-9]*: //' | grep -E '^sr[0-9]+:' | sort
}

# The lab takes this for a normal end of its guest.
power_off_there()
{
	powered_off=1
	objects_before=$(grep '^sr0:' <<<"$objects_before")
	call "echo 0 >$RESULTS/B/lab/status; sync; echo o >/proc/sysrq-trigger; sleep 60" || true
}

the_kernel_log_of_B_is_clean()
{
	[ -n "$powered_off" ] || there the_kernel_log_is_clean
}

# --- programs -----------------------------------------------------------------

declare -A link_of=([nsA]=sr0 [nsB]=sr1)
declare -A address_of=([nsA]=10.9.0.1 [nsB]=10.9.0.2 [nsA6]=fd09::1 [nsB6]=fd09::2)

# arguments NS TOOL: print the arguments that depend on the host of one end
arguments()
{
	local gid='*:ffff:0a09:*' link=${link_of[$1]}

	[ -z "${FAMILY:-}" ] || gid='fd09:*'
	case $2 in
	# the other machine may not be scheduled for seconds
	ib_*) echo "-d $link -F -u ${QP_TIMEOUT:-21} -x $(gid_index "$1" "$link" "$gid")" ;;
	ibv_*) echo "-d $link -g $(gid_index "$1" "$link" "$gid")" ;;
	esac
}

# ready NS TOOL: its server is ready
ready()
{
	case $2 in
	rping)
		case $1 in
		nsB) there cm_listens nsB ;;	# where its processes are
		*) cm_listens "$1" ;;
		esac
		;;
	*) listening "$1" 18515 ;;
	esac
}

server()
{
	local end=() own to=$1

	shift
	read -ra own < <(arguments "$to" "$1")
	[ "$1" != rping ] || end=(-s -a "${address_of[$to${FAMILY:-}]}")
	on "$to" bounded cm_program "$@" "${own[@]}" "${end[@]}" &
	server=$!
	wait_for ready "$to" "$1"
}

client()
{
	local end own from=$1 to=$2

	shift 2
	read -ra own < <(arguments "$from" "$1")
	end=("${address_of[$to]}")	# perftest connects by IPv4 first
	[ "$1" != rping ] || end=(-c -a "${address_of[$to${FAMILY:-}]}")
	on "$from" bounded cm_program "$@" "${own[@]}" "${end[@]}"
}

program()
{
	local from=$1 to=$2

	shift 2
	server "$to" "$@" && client "$from" "$to" "$@" && wait "$server" && return
	echo "status $?, from $from: $*"
	on "$to" pkill -9 "$1"
	return 1
}

declare -A busy_clients busy_said

busy()
{
	busy_said[$1]=$(mktemp)
	server nsB "$1" -D 3600 && disown "$server" || return
	client nsA nsB "$1" -D 3600 >"${busy_said[$1]}" 2>&1 &
	busy_clients[$1]=$!
	wait_for completed "$1"
}

# completed TOOL: work requests of it have completed; before, it may wait for its server by TCP
completed()
{
	rdma -dd resource show qp link sr0/1 | grep -q " comm $1 .* drv_sq_tail [1-9]"
}

told()
{
	grep 'status 12' "${busy_said[$1]}"
}

# The tool may still wait for its peer.
gives_up()
{
	wait_for told "$1" || { cat "${busy_said[$1]}"; return 1; }
	pkill -9 "$1"
	wait "${busy_clients[$1]}"
	true
}

if [ "$MACHINE" = B ]; then
	trap - EXIT
	serve
fi
ktap_closing+=(the_kernel_log_of_B_is_clean)
line_begin || echo "machine B does not answer" >&2
