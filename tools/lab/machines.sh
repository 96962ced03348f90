# SPDX-License-Identifier: GPL-2.0
# srnic lab - two machines, A and B, with a wire and a control line
#
#   A [wire] ======== [wire] B	Ethernet frames: a pair of datagram sockets, or two taps
#				on a bridge, which can have queues and offloads
#   A [line] -------- [line] B	bytes, by which one machine controls the other: a pair of
#				stream sockets, in each guest a serial device
#
# Each machine is a subshell with a guest.  When one ends, the other reads "gone" from the line;
# if it died, the lab kills the other.
# shellcheck shell=bash

declare -A GUESTS=()	# their names, by process ID

# machines_sockets ARGUMENT...: run the lab again with these arguments and open sockets.  Root
# does so in a network namespace, where a socket's queue can be as long as that of a NIC.
machines_sockets()
{
	local own=()

	((EUID)) || own=(unshare --net sh -c
		'echo 256 >/proc/sys/net/unix/max_dgram_qlen; exec "$@"' sh)
	exec "${own[@]}" "$LAB/wire" "$LAB/run" "$@"
}

# machines_taps QUEUES: wireA and wireB, joined by a bridge
machines_taps()
{
	local dev many=

	[ -w /dev/net/tun ] && ((EUID == 0)) || die "--queues requires root and /dev/net/tun"
	(($1 == 1)) || many=multi_queue
	ip link add bridge type bridge mcast_snooping 0
	for dev in wireA wireB; do
		ip tuntap add "$dev" mode tap $many
		ip link set "$dev" mtu 9000 master bridge up
	done
	ip link set bridge up
}

# machine NAME KERNEL WIRE LINE COMMAND...: run one of them from start to end
machine()
{
	MACHINE=$1 KERNEL=$2 WIRE=$3 LINE=$4
	shift 4
	[[ $KERNEL != host ]] || die "--machines requires kernels of guests"
	[ "$MACHINE" = A ] || RESULTS=$RESULTS/$MACHINE
	guest_prepare
	guest_life "$@"
}

# wire_mac: print the address of this machine's device
wire_mac()
{
	echo "52:54:00:00:00:0$MACHINE"
}

machines_kill()
{
	((${#GUESTS[@]} == 0)) || kill "${!GUESTS[@]}" 2>/dev/null || true
}

# machine_ended NAME: kill the other machine if NAME died, or else tell it.  Frames for a machine
# that was switched off are lost.  End of file instead of "gone" would make user-mode Linux
# free an interrupt in interrupt context.
machine_ended()
{
	local job=$RESULTS line=$LINE_A wire=$WIRE_A

	[ "$1" = A ] || job=$RESULTS/B line=$LINE_B wire=$WIRE_B
	if [ -e "$job/lab/status" ]; then
		"$LAB/wire" --drain "$wire" &
		DRAINS+=($!)
		printf '\ngone\n' >&"$line" || true
	else
		machines_kill
	fi
}

# machines_wait: the exit status is that of the first machine that failed
machines_wait()
{
	local ended name status verdict=0

	while ((${#GUESTS[@]})); do
		status=0
		wait -n -p ended "${!GUESTS[@]}" || status=$?
		name=${GUESTS[$ended]}
		unset "GUESTS[$ended]"
		((verdict)) || verdict=$status
		((status == 0)) || echo "lab: that was machine $name" >&2
		machine_ended "$name"
	done
	kill "${DRAINS[@]}" 2>/dev/null || true
	return "$verdict"
}

# machines_run KERNEL-A KERNEL-B COMMAND...
machines_run()
{
	local DRAINS=() LINE_A LINE_B WIRE_A WIRE_B kernel_a=$1 kernel_b=$2

	shift 2
	(($#)) || die "two machines need a command"
	read -r WIRE_A WIRE_B LINE_A LINE_B <<<"$LAB_WIRE"
	unset LAB_WIRE
	[ -z "$QUEUES" ] || machines_taps "$QUEUES"
	RESULTS=${RESULTS:-$(results_new)}
	mkdir -p "$RESULTS/B"
	trap 'machines_kill; wait; exit 130' INT TERM HUP
	(machine A "$kernel_a" "$WIRE_A" "$LINE_A" "$@") &
	GUESTS[$!]=A
	(machine B "$kernel_b" "$WIRE_B" "$LINE_B" "$@") &
	GUESTS[$!]=B
	machines_wait
}
