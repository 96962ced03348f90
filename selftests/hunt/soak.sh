#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every byte arrives in spite of losses, link flaps and changes of the MTU, and memory, keys
# and file descriptors do not grow after the first round.
#
#   nsA [sr0] veth0 ===(loss, reordering, duplicates, corruption)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/soak.sh"
. "$(dirname "$0")/../lib/hunt.sh"

need rdma gcc make tc ip
vrb_make

WIRE="delay 200us reorder 10% 25% loss 0.5% duplicate 1% corrupt 0.5%"
LOADS=(rc rc6 uc xrc odp odp_atomics)	# each connects its queue pairs at the start
ROUNDS=$(hunt_num 3 30)	# of two minutes each with HUNT=long

rc()
{
	vrb -s "$SEED" -n "$(hunt_num 20 2000)" -t 18 soak
}

rc6()
{
	vrb -6 -s "$SEED" -n "$(hunt_num 20 2000)" -t 18 soak
}

uc()
{
	vrb -n "$(hunt_num 3 300)" ucsoak
}

xrc()
{
	vrb -n "$(hunt_num 30 3000)" -t 18 xrcsoak
}

odp()
{
	vrb -n "$(hunt_num 20 2000)" "odp storm: SEND, WRITE and READ, all memory"
}

odp_atomics()
{
	vrb -n "$(hunt_num 20 2000)" "odp storm: atomics of both sides"
}

# flap: set the link down briefly; a queue pair fails when its retries are exhausted
flap()
{
	ip -n nsA -batch - <<-EOT
		link set veth0 down
		link set veth0 up
	EOT
}

# squeeze: reduce the MTU briefly, which drops larger packets in flight
squeeze()
{
	ip -n nsA -batch - <<-EOT
		link set veth0 mtu 1500
		link set veth0 mtu 4200
	EOT
}

# connected: all loads that run have connected their queue pairs, since addresses are not resolved
# while the link is down, and a path MTU of 4096 is refused while that of the link is smaller
connected()
{
	local now

	now=$(rdma res show qp 2>/dev/null | awk '
		/ state RTS / && match($0, / pid [0-9]+/) {
			ends[substr($0, RSTART, RLENGTH)]++
		}
		END {
			for (pid in ends)
				loads += ends[pid] >= 2
			print loads + 0
		}')
	((now >= $(jobs -rp | wc -l)))
}

# disturb: disturb the link until all loads have ended
disturb()
{
	wait_for connected
	while [ -n "$(jobs -rp)" ]; do
		case $((RANDOM % 3)) in
		0) flap ;;
		1) squeeze ;;
		esac
		sleep 0.$((RANDOM % 5 + 3))
	done
}

# load: run all loads at once; print the output of those that fail
load()
{
	local bad=0 i pids=()

	for i in "${!LOADS[@]}"; do
		"${LOADS[i]}" >"$work/load$i" 2>&1 &
		pids+=($!)
	done
	disturb
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" && continue
		bad=1
		echo "${LOADS[i]}:"
		ktap_failures <"$work/load$i"
	done
	return "$bad"
}

# KASAN quarantines freed memory, which is not a leak.
slab_slack=2048
[ "${SRNIC_KERNEL:-}" != uml-debug ] || slab_slack=65536

# census: print name, amount and tolerance of each resource that must not grow
census()
{
	awk -v slack="$slab_slack" '
		$1 == "SUnreclaim:" { print "slab_kB", $2, slack }
		$1 == "VmallocUsed:" { print "vmalloc_kB", $2, 512 }
		$1 == "Percpu:" { print "percpu_kB", $2, 128 }' /proc/meminfo
	echo "rings $(grep -c srnic /proc/vmallocinfo) 0"
	echo "files $(cut -f1 /proc/sys/fs/file-nr) 32"
	echo "keys $(rdma res show mr 2>/dev/null | wc -l) 0"
}

flat()
{
	echo 3 >/proc/sys/vm/drop_caches
	paste -d ' ' "$work/census" <(census) | awk '
		{ print $1 ": " $2 " after the first round, now " $5 }
		$5 > $2 + $3 { grown = 1 }
		END { exit grown }' >"$work/flat"
}

stays_flat()
{
	wait_freed flat || { cat "$work/flat"; return 1; }
}

module_again()
{
	wait_freed rmmod_now && modprobe "$TYPE"
}

rmmod_now()
{
	rmmod "$TYPE" 2>/dev/null
}

work=$(mktemp -d)
trap 'pair_down; rm -rf "$work"' EXIT
hunt_seed
RANDOM=$SEED
read -ra wire <<<"$WIRE"

ktap_plan $((8 + ROUNDS))
check "two hosts"			pair_up
for ns in nsA nsB; do
	on "$ns" sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
done
check "a wire with all kinds of faults"		both_ways "${wire[@]}"
check "round 0: every byte"		load
echo 3 >/proc/sys/vm/drop_caches
census >"$work/census"
for ((round = 1; round <= ROUNDS; round++)); do
	check "round $round: every byte" load
done
check "packets used the wire"	wire_busy
check "no memory has leaked"		stays_flat
diag "$(cat "$work/flat")"
clear_wire
check "no object is left"		no_object_is_left
pair_down
check "the module is removed and loaded"	module_again
check "two hosts again"			pair_up
ktap_end
