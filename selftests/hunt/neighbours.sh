#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The memory that an unprivileged process makes the driver use is charged to its memory
# cgroup, and the traffic of others continues.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#    |  user 65534, cgroup "worst"
#    root: ib_write_lat and ping to nsB, links added and deleted there, a shell that counts

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/hunt.sh"

need rdma gcc ib_write_lat setpriv chrt
cgroup=/sys/fs/cgroup/worst
grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null ||
	skip_all "no memory cgroup"

hunt_make
work=$(mktemp -d)

# The attacker has a normal share of the processors.  With "idle" it runs only when no other
# process does, so that others are slowed down only by the kernel's work for it.
policy=other
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# caged COMMAND...: run it in the cgroup; $$ is expanded by the inner shell
caged()
{
	mkdir -p "$cgroup"
	# shellcheck disable=SC2016
	bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$cgroup" \
		chrt "--$policy" 0 "$@" \
		>"$work/said" 2>&1 &
	attacker=$!
}

# attack WHAT N [NS DEV]: start hunt-neighbours as another user and wait until it is ready or
# refused.  Cgroups are not visible inside "ip netns exec".
attack()
{
	: >"$work/said"
	caged bash -c 'ulimit -n 65536 -l 131072 && exec "$@"' - \
		ip netns exec "${3:-nsA}" "${user[@]}" \
		"${hunt_dir:?}/hunt-neighbours" "${4:-sr0}" "$1" "$2"
	wait_for attack_on && grep -Eq '^(ready|refused)' "$work/said" ||
		{ cat "$work/said"; return 1; }
}

attack_on()
{
	[ -s "$work/said" ] || ! kill -0 "$attacker"
}

# as_root COMMAND...: run an attack that needs capabilities
as_root()
{
	local user=()

	"$@"
}

# storm WHAT: run another hunt; it opens both hosts and therefore needs root
storm()
{
	caged "${hunt_dir:?}/hunt-$1" -s "$SEED" -n 1000000 -r 1000000
	wait_for storm_on
}

storm_on()
{
	rdma res show qp | grep -q "comm hunt-"
}

# attack_off: kill the attacker; all its objects are freed
attack_off()
{
	echo 1 >"$cgroup/cgroup.kill"
	wait "$attacker" 2>/dev/null
	no_object_is_left && wait_freed rmdir "$cgroup"
}

# kernel_kB: print the memory used by the kernel
kernel_kB()
{
	awk '$1 ~ /^(Slab|VmallocUsed|Percpu|PageTables|KernelStack):$/ { sum += $2 }
		END { print sum }' /proc/meminfo
}

# charged_kB: print the kernel memory charged to the cgroup
charged_kB()
{
	awk '$1 == "kernel" { print int($2 / 1024) }' "$cgroup/memory.stat"
}

# paid KB: growth of kernel memory since KB is charged to the cgroup, except for a small part
# that other processes use or that the kernel never charges
paid()
{
	local charged more

	more=$(($(kernel_kB) - $1))
	charged=$(charged_kB)
	diag "kernel memory: $more kB more, $charged kB charged" >&3
	((more - charged < 4096 + more / 5))
}

trips=$(hunt_num 1000 20000)	# iterations of lat

# lat, ping: the 50th and the 99.9th percentile in us
lat()
{
	local KTAP_BOUND=$((KTAP_BOUND * trips / 1000)) figures tries

	# perftest may fail to determine the clock rate of a busy processor
	for ((tries = $(hunt_num 1 5); tries > 0; tries--)); do
		figures=$(pair ib_write_lat -s 64 -n "$trips" |
			awk '$1 == 64 { print $5, $NF }')
		[[ $figures == *inf* ]] || break
	done
	echo "$figures"
}

ping()
{
	on nsA "${hunt_dir:?}/hunt-neighbours" 10.9.0.2 ping "$(hunt_num 500 5000)"
}

# ms_since MICROSECONDS
ms_since()
{
	echo $(((${EPOCHREALTIME/./} - $1) / 1000))
}

# links: add and delete links in another namespace, and print the time in ms
links()
{
	local begin=${EPOCHREALTIME/./} i

	for ((i = $(hunt_num 5 50); i > 0; i--)); do
		printf 'link %s other type dummy\n' add del
	done | ip -n nsB -batch - && ms_since "$begin"
}

# count: compute for a while, and print the processor time of this shell in ticks
count()
{
	local i

	for ((i = $(hunt_num 10000 200000); i > 0; i--)); do :; done
	cpu_ticks "$BASHPID"
}

# worker_ticks: print the processor time of the kernel's workers
worker_ticks()
{
	cat /proc/[0-9]*/stat 2>/dev/null |
		awk '/^[0-9]+ \(kworker/ { sub(/.*\) /, ""); sum += $12 + $13 } END { print sum + 0 }'
}

# shell: run count, and set counted and worked to the processor time of the shell and of the
# kernel's workers in ticks, and took to the elapsed time in ms
shell()
{
	local begin=${EPOCHREALTIME/./} before

	before=$(worker_ticks)
	counted=$(count) && worked=$(($(worker_ticks) - before)) && took=$(ms_since "$begin")
}

# fares WHAT: all work of the other process completes; print its latencies and times
fares()
{
	local l n p

	l=$(lat) && p=$(ping) && n=$(links) && [ -n "$l" ] && [ -n "$p" ] && shell || return
	diag "$1: ib_write_lat 50 %, 99.9 %: $l us; ping: $p us; links: $n ms;" \
		"$1: a shell: $took ms, for $counted ticks of its own and $worked of workers" >&3
}

# has_share: a shell gets its share besides workers, which at nice -20 have 87 times as much
has_share()
{
	((counted > 0 && worked < 30 * counted))
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

runs()
{
	kill -0 "$attacker" || { cat "$work/said"; return 1; }
}

# repeats: the attacker completes another N of its actions
repeats()
{
	local times

	times=$(grep -c ready "$work/said") && wait_for has_repeated "$times" && runs
}

# has_repeated TIMES
has_repeated()
{
	(($(grep -c ready "$work/said") > $1)) || ! kill -0 "$attacker"
}

# has_work: the attacker's own thread sleeps, and its queues still have requests
has_work()
{
	on nsA rdma -dd resource show qp >"$work/qps"
	grep -q '^State:[[:space:]]*S' "/proc/$attacker/status" && awk '
		/comm hunt-neighbours/ {
			for (i = 1; i < NF; i++)
				is[$i] = $(i + 1)
			queued += is["drv_sq_head"] != is["drv_sq_tail"]
		}
		END { exit !queued }' "$work/qps" || { cat "$work/qps"; return 1; }
}

# control: as many processes as hunt-rings has threads, without the device
control()
{
	check "spin, $policy: 3 of them"		attack spin 3
	check "spin, $policy: others are not affected"	fares "spin, $policy"
	check "spin, $policy: no object is left"	attack_off
}

# beside WHAT STILL COMMAND...: start an attack by COMMAND; STILL checks that it is in
# progress at the end
beside()
{
	check "$1, $policy: has started"		"${@:3}"
	check "$1, $policy: others are not affected"	fares "$1, $policy"
	check "$1, $policy: still in progress"		"$2"
	check "$1, $policy: no object is left"		attack_off
}

third_host()
{
	ip netns add nsC && ip -n nsC link add dummy0 type dummy &&
		host_up nsC dummy0 third 3 srnic
}

# stuck: a program is in a verb that does not return, which keeps its namespace alive
stuck()
{
	as_root attack stuck 1 nsC third && ip netns del nsC && wait_for namespace_waits
}

# namespace_waits: a worker, which runs now and then to look, has not finished with it
namespace_waits()
{
	cat /proc/[0-9]*/stat 2>/dev/null | grep -qE '\(kworker/.*\+netns\)'
}

namespaces_come_and_go()
{
	wait_freed fails namespace_waits && bounded ip netns add nsC && ip netns del nsC
}

exec 3>&1
trap '[ ! -d "$cgroup" ] || attack_off; pair_down; ip netns del nsC 2>/dev/null; rm -rf "$work"' EXIT
hunt_seed
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
sysctl -qw vm.unprivileged_userfaultfd=1
sysctl -qw fs.nr_open=1048576

# Measuring the effects of the scheduler takes long.
policies=(idle)
[ -z "${HUNT:-}" ] || policies=(other idle)
ktap_plan $((25 + 19 * ${#policies[@]}))
check "two hosts"		pair_up
check "alone"			fares alone
campaign qps "$(hunt_num 1000 30000)"
check "alone again"		fares "alone again"
campaign faults "$(hunt_num 200 1000)"
check "alone once more"		fares "alone once more"
# Both ends of ib_write_lat wait for the processor in each round trip.
trips=$(hunt_num 100 2000) beside hog has_work attack hog 4
check "hog: a shell has its share"	has_share
check "a third host"			third_host
beside stuck namespace_waits stuck
check "namespaces come and go"		namespaces_come_and_go
for policy in "${policies[@]}"; do
	control
	beside rings runs storm rings
	beside verbs runs storm verbs
	beside dumps repeats attack dumps 2
	beside gets repeats as_root attack gets 16
done
ktap_end
