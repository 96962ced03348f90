#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU migrates a running machine by RDMA, and each byte of its memory arrives: registered in
# pieces and as a whole, over a wire that loses packets and one that is cut meanwhile.  If an end
# dies, the other one notices, and a source that has lost its destination migrates to another.
#
#   source [sr0] veth0 ================ veth1 [sr1] destination
#
# The machine has no disk.  Half of its memory is random; its firmware is a loop that writes to
# 128 pages, so that memory changes during the migration.  The destination is not started until
# its memory has been compared with that of the source.
#
# run: QEMU, live migration | qemu-system-x86
#   | module rdma_ucm; with the capability ``rdma-pin-all`` RLIMIT_MEMLOCK above the memory of the
#   machine
#   | ``-incoming rdma:10.9.0.2:4444``; in the monitor of the other host ``migrate -d
#   rdma:10.9.0.2:4444``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/wire.sh"

MEMORY=$((32 << 20))
RANDOM_BYTES=$((16 << 20))

# 16-bit code at f000:0000, and the jump to it from the reset vector:
#
#		cli
#		xor eax, eax
#	next:	inc eax
#		mov bx, 0x1000
#	page:	mov ds, bx
#		mov [0], eax
#		add bx, 0x100
#		cmp bx, 0x9000
#		jb page
#		jmp next
CODE='\xfa\x66\x31\xc0\x66\x40\xbb\x00\x10\x8e\xdb\x66\xa3\x00\x00\x81\xc3\x00\x01'
CODE+='\x81\xfb\x00\x90\x72\xf0\xeb\xe9'
RESET='\xea\x00\x00\x00\xf0'

need rdma qemu-system-x86_64 tc ethtool nft

dir=$(mktemp -d)
declare -A pid=() in=() out=()	# by the name of the machine: process, file descriptors

files()
{
	{
		# shellcheck disable=SC2059 # it is the code
		printf "$CODE" && head -c $((0xfff0 - ${#CODE} / 4)) /dev/zero &&
			printf "$RESET" && head -c 11 /dev/zero
	} >"$dir/firmware" && head -c "$RANDOM_BYTES" /dev/urandom >"$dir/random"
}

# machine NAME NS ARGUMENT...
machine()
{
	local in_fd name=$1 ns=$2 out_fd

	shift 2
	rm -f "$dir/$name".*
	mkfifo "$dir/$name.in" "$dir/$name.out" || return
	ip netns exec "$ns" qemu-system-x86_64 -accel tcg -M pc -m $((MEMORY >> 20)) -nodefaults \
		-no-user-config -display none -bios "$dir/firmware" -qmp "pipe:$dir/$name" "$@" &
	pid[$name]=$!
	exec {in_fd}<>"$dir/$name.in" {out_fd}<>"$dir/$name.out"
	in[$name]=$in_fd out[$name]=$out_fd
	qmp "$name" qmp_capabilities
}

# qmp NAME COMMAND [ARGUMENTS]: print what it returns
qmp()
{
	local line

	echo "{\"execute\": \"$2\", \"arguments\": {${3:-}}}" >&"${in[$1]}"
	while read -r -t "$KTAP_BOUND" -u "${out[$1]}" line; do
		case $line in
		'{"return"'*) echo "$line"; return ;;
		'{"error"'*) echo "$line"; return 1 ;;
		esac
	done
	ktap_late "qmp $2"
	return 1
}

ends()
{
	local name

	for name in "${!pid[@]}"; do
		kill -9 "${pid[$name]}"
		wait "${pid[$name]}"
	done
	pid=()
} 2>/dev/null

# counted NAME: print how often the machine's loop has begun
counted()
{
	qmp "$1" human-monitor-command '"command-line": "xp /1xw 0x10000"' |
		grep -oE '0x[0-9a-f]+'
}

counted_over()
{
	(($(counted "$1") > $2))
}

counts()
{
	wait_for counted_over "$1" "$(counted "$1")"
}

source_up()
{
	machine source nsA -device "loader,file=$dir/random,addr=0x100000,force-raw=on" &&
		qmp source migrate-set-parameters '"downtime-limit": 10000' && counts source
}

# destination_up: it listens
destination_up()
{
	machine destination nsB -incoming defer -S && capable destination &&
		qmp destination migrate-incoming '"uri": "rdma:10.9.0.2:4444"' &&
		wait_for cm_listens nsB 10.9.0.2
}

# capable NAME: with the capability $pinned
capable()
{
	qmp "$1" migrate-set-capabilities \
		"\"capabilities\": [{\"capability\": \"rdma-pin-all\", \"state\": $pinned}]"
}

migration_is()
{
	qmp source query-migrate | grep "\"status\": \"$1\""
}

# migration_begins: from the source to the destination
migration_begins()
{
	destination_up && capable source &&
		qmp source migrate '"uri": "rdma:10.9.0.2:4444"'
}

# migration_ends STATUS
migration_ends()
{
	wait_for migration_is "completed\|failed" && migration_is "$1"
}

# memory NAME: in a file of that name
memory()
{
	qmp "$1" pmemsave "\"val\": 0, \"size\": $MEMORY, \"filename\": \"$dir/$1.memory\""
}

memory_same()
{
	memory source && memory destination &&
		cmp "$dir/source.memory" "$dir/destination.memory" &&
		cmp -n "$RANDOM_BYTES" -i 1M:0 "$dir/destination.memory" "$dir/random"
}

# migrates: the source's machine continues at the destination
migrates()
{
	migration_begins && arrives
}

arrives()
{
	migration_ends completed && memory_same && qmp destination cont && counts destination
}

# migrates_afresh: with machines of its own
migrates_afresh()
{
	ends
	source_up && migrates
}

# halfway: nothing arrives any more
halfway()
{
	ends
	source_up && drop_nth nsA veth0 1000 999999999 && migration_begins &&
		wait_for wire_stalled
}

outlasts_cut()
{
	halfway && wire_cut && clear_wire && wire_joined && arrives
}

destination_dies()
{
	halfway && kill -9 "${pid[destination]}" && clear_wire && migration_ends failed &&
		counts source
}

source_dies()
{
	halfway && kill -9 "${pid[source]}" && clear_wire && wait_for ended "${pid[destination]}"
}

trap 'ends; pair_down; rm -r "$dir"' EXIT

ktap_plan 14
check "two hosts"				hosts_up
check "a firmware"				files
pinned=false
check "memory in pieces"			migrates_afresh
pinned=true
check "memory as a whole"			migrates_afresh
check "both crossed"				crossed nsB sr1 $((2 * RANDOM_BYTES))
check_srnic "by WRITEs"		counter_over nsB sr1 rx_write_requests 32
check "one packet in a hundred is lost"		netem nsA veth0 loss 1%
check "in the other direction, too"		netem nsB veth1 loss 1%
check "migration over that wire"		migrates_afresh
check "the wire loses nothing again"		clear_wire
check "the wire is cut during a migration"	outlasts_cut
check "the destination dies during one"		destination_dies
check "migration to another"			migrates
check "the source dies during one"		source_dies
ends
ktap_end
