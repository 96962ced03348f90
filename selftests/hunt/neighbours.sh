#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whatever an unprivileged process does with its device, the memory is charged to its memory
# cgroup, and the traffic of others continues.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#    |  user 65534, cgroup "worst"
#    root: ib_write_lat and ping to nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/hunt.sh"

need rdma gcc ib_write_lat setpriv chrt
cgroup=/sys/fs/cgroup/worst
grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null ||
	skip_all "no memory cgroup"

hunt_make
work=$(mktemp -d)

# The attacker has a normal share of the processors, or with "idle" runs only when no other
# process does; others then lose only what the kernel does on its behalf.
policy=other

# caged COMMAND...: run it in the cgroup; $$ is that of its shell
caged()
{
	mkdir -p "$cgroup"
	# shellcheck disable=SC2016
	bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$cgroup" \
		chrt "--$policy" 0 "$@" \
		>"$work/said" 2>&1 &
	attacker=$!
}

# attack WHAT N: run it as another user, until it reports that it has all it can get.  The
# cgroups are not visible below "ip netns exec".
attack()
{
	: >"$work/said"
	caged bash -c 'ulimit -n 65536 && exec "$@"' - \
		ip netns exec nsA setpriv --reuid 65534 --regid 65534 --clear-groups \
		"${hunt_dir:?}/hunt-neighbours" sr0 "$1" "$2"
	wait_for attack_on && grep -Eq '^(ready|refused)' "$work/said" ||
		{ cat "$work/said"; return 1; }
}

attack_on()
{
	[ -s "$work/said" ] || ! kill -0 "$attacker"
}

# storm WHAT: run another hunt, which needs both hosts and therefore root
storm()
{
	caged "${hunt_dir:?}/hunt-$1" -s "$SEED" -n 1000000 -r 1000000
	wait_for storm_on
}

storm_on()
{
	rdma res show qp | grep -q "comm hunt-"
}

# attack_off: stop it, which frees everything
attack_off()
{
	echo 1 >"$cgroup/cgroup.kill"
	wait "$attacker" 2>/dev/null
	no_object_is_left && wait_freed rmdir "$cgroup"
}

# kernel_kB: print the kernel's own memory
kernel_kB()
{
	awk '$1 ~ /^(Slab|VmallocUsed|Percpu|PageTables|KernelStack):$/ { sum += $2 }
		END { print sum }' /proc/meminfo
}

# charged_kB: print the kernel memory that is charged to the cgroup
charged_kB()
{
	awk '$1 == "kernel" { print int($2 / 1024) }' "$cgroup/memory.stat"
}

# paid KB: kernel memory beyond KB is charged to the cgroup, except for a little that other
# processes use or that the kernel never charges
paid()
{
	local charged more

	more=$(($(kernel_kB) - $1))
	charged=$(charged_kB)
	diag "kernel memory: $more kB more, $charged kB charged" >&3
	((more - charged < 4096 + more / 5))
}

# lat, ping: the 50th and the 99.9th percentile in us
lat()
{
	local figures try

	# perftest may fail to determine the clock rate of a busy processor
	for try in {1..5}; do
		figures=$(pair ib_write_lat -s 64 -n "$(hunt_num 1000 20000)" |
			awk '$1 == 64 { print $5, $NF }')
		[[ $figures == *inf* ]] || break
	done
	echo "$figures"
}

ping()
{
	on nsA "${hunt_dir:?}/hunt-neighbours" 10.9.0.2 ping "$(hunt_num 500 5000)"
}

# fares WHAT: the neighbour's traffic completes; print its latency
fares()
{
	local l p

	l=$(lat) && p=$(ping) && [ -n "$l" ] && [ -n "$p" ] || return
	diag "$1: ib_write_lat 50 %, 99.9 %: $l us; ping: $p us" >&3
}

# timers_are_off: a queue pair that waits for a page has no timer running
timers_are_off()
{
	on nsA rdma -dd res show qp >"$work/qps"
	! grep -o 'timer_ns [1-9][0-9]*' "$work/qps" && grep -q 'timer_ns 0' "$work/qps"
}

# campaign WHAT N
campaign()
{
	local before

	echo 3 >/proc/sys/vm/drop_caches
	before=$(kernel_kB)
	check "$1: $2 of them"		attack "$1" "$2"
	diag "$(cat "$work/said")"
	check "$1: no timer runs"	wait_freed timers_are_off
	check "$1: others are not affected"	fares "$1"
	if grep -qw kasan_report /proc/kallsyms; then
		skip "$1: the cgroup is charged" "KASAN's own memory hides the growth"
	else
		check "$1: the cgroup is charged" paid "$before"
	fi
	check "$1: no object is left"	attack_off
}

still_at_it()
{
	kill -0 "$attacker" || { cat "$work/said"; return 1; }
}

# control: as many processes as hunt-rings has threads, without the device
control()
{
	check "spin, $policy: 3 of them"		attack spin 3
	check "spin, $policy: others are not affected"	fares "spin, $policy"
	check "spin, $policy: no object is left"	attack_off
}

# beside WHAT: random corruption of rings or commands
beside()
{
	check "$1, $policy: has started"		storm "$1"
	check "$1, $policy: others are not affected"	fares "$1, $policy"
	check "$1, $policy: still running"		still_at_it
	check "$1, $policy: no object is left"		attack_off
}

exec 3>&1
trap '[ ! -d "$cgroup" ] || attack_off; pair_down; rm -rf "$work"' EXIT
hunt_seed
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
sysctl -qw vm.unprivileged_userfaultfd=1
sysctl -qw fs.nr_open=1048576

# It takes long to measure the effects of the scheduler.
read -ra policies < <(hunt_num idle "other idle")
ktap_plan $((14 + 11 * ${#policies[@]}))
check "two hosts"		pair_up
check "alone"			fares alone
campaign qps "$(hunt_num 1000 10000)"
check "alone again"		fares "alone again"
campaign faults "$(hunt_num 200 1000)"
check "alone once more"		fares "alone once more"
for policy in "${policies[@]}"; do
	control
	beside rings
	beside verbs
done
ktap_end
