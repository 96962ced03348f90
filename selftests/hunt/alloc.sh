#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A call in which any allocation fails returns an error and leaks nothing, and a packet for
# which an allocation fails is dropped.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/hunt.sh"

need rdma gcc make
[ -e /proc/self/fail-nth ] || skip_all "this kernel has no fault injection"
vrb_make
hunt_make

fault=/sys/kernel/debug
ko=$(modinfo -n "$TYPE") || skip_all "no module"

# faults_set WAIT: configure faults for all allocations (WAIT = N: also for those that may
# sleep) except user pages and pages of vmalloc(), which warns when it fails
faults_set()
{
	local kind

	for kind in failslab fail_page_alloc; do
		echo 0 >"$fault/$kind/verbose"
		echo "$1" >"$fault/$kind/ignore-gfp-wait"
		echo -1 >"$fault/$kind/times"
	done
	echo Y >"$fault/fail_page_alloc/ignore-gfp-highmem"
	echo 0 >"$fault/fail_page_alloc/min-order"
}

faults_off()
{
	echo 0 >"$fault/failslab/probability"
	echo 0 >"$fault/fail_page_alloc/probability"
}

# faults_on PERCENT [TASK]: let this share of allocations fail, of all tasks or of those with
# that name
faults_on()
{
	local filter=N kind pid

	[ -z "${2:-}" ] || filter=Y
	for kind in failslab fail_page_alloc; do
		echo "$filter" >"$fault/$kind/task-filter"
		echo "$1" >"$fault/$kind/probability"
	done
	[ -n "${2:-}" ] || return 0
	for pid in $(pgrep "$2"); do
		echo 1 >"/proc/$pid/make-it-fail"
	done
}

trap 'faults_off; ip netns del nsC 2>/dev/null; pair_down; dmesg -n 8' EXIT

# nth STEP WHAT...
nth()
{
	"${hunt_dir:?}/hunt-nth" -S "$SEED" -s "$@"
}

# link_nth STEP
link_nth()
{
	on nsA "$hunt_dir/hunt-nth" -S "$SEED" -s "$1" link sr2 veth2
}

# out_of_memory WHAT DEV: run nth with all allocations failing from a certain one on
out_of_memory()
{
	local status=0

	echo Y >"$fault/failslab/task-filter"
	echo 100 >"$fault/failslab/probability"
	on nsA "${hunt_dir:?}/hunt-nth" "$@" 3>"$fault/failslab/space" || status=$?
	faults_off
	echo 0 >"$fault/failslab/space"
	return "$status"
}

# packets_are_dropped: most packets are built from cached memory, and fail only if three
# successive allocations fail
packets_are_dropped()
{
	local i

	faults_on 50
	for ((i = 0; i < 20; i++)); do
		counter_over nsA sr0 tx_drop_nobuf 0 && return
		counter_over nsB sr1 tx_drop_nobuf 0 && return
		vrb -s $((SEED + i)) -n 20 soak || return
	done
	return 1
}

# no_memory_is_lost: kmemleak reports nothing, except for what the core loses: nodes of the
# tree of uverbs' methods, if an insertion fails
no_memory_is_lost()
{
	local leaks=/sys/kernel/debug/kmemleak

	[ -e $leaks ] || return 0
	echo scan >$leaks
	sleep 1		# memory freed during the first scan is not reported by the second
	echo scan >$leaks
	awk '
	function judge() {
		if (leak != "" && !(leak ~ /radix_tree_node_alloc/ && leak ~ /uapi_/)) {
			printf "%s", leak
			bad = 1
		}
		leak = ""
	}
	/^unreferenced object/ { judge() }
	{ leak = leak $0 "\n" }
	END { judge(); exit bad }' $leaks && echo clear >$leaks
}

# the_kernel_log_is_clean: no warnings, except of vmalloc(), which cannot be suppressed, and of
# trace events, which do not expect an allocation to fail; no_memory_is_lost checks what
# kmemleak reports
# shellcheck disable=SC2154 # set by netns.sh
the_kernel_log_is_clean()
{
	! dmesg | sed -e "1,/$kernel_log_mark/d" -e '/kmemleak:/d' \
		-e '/WARNING: kernel\/trace\/trace_events.c/,/end trace/d' |
		grep -E -m 1 -A 40 -f <(grep -v 'Call Trace' "$selftests/lib/bad-log")
}

netns_exit()
{
	local i

	for ((i = 0; i < $1; i++)); do
		ip netns add nsC && ip -n nsC link add veth2 type dummy &&
			ip netns exec nsC rdma link add sr2 type "$TYPE" \
				netdev veth2 || return
		faults_on 20 kworker/u
		ip netns del nsC
		wait_for no_link sr2
		faults_off
		no_link sr2 || return
	done
}

no_link()
{
	! rdma link show | grep -q "link $1/"
}

rmmod_now()
{
	[ ! -d "/sys/module/$TYPE" ] || rmmod "$TYPE" 2>/dev/null
}

dmesg -n 3	# hides the warnings of vmalloc() from the lab
hunt_seed
traffic=(soak data)

ktap_plan $((11 + $("$hunt_dir/hunt-alloc" -l | wc -l) + $(vrb_count "${traffic[@]}")))
check "two hosts"		pair_up
faults_set N
ktap_relay "$hunt_dir/hunt-alloc" -n "$(hunt_num 6 1)" -s "$SEED"
check "a third netdev"		ip -n nsA link add veth2 type dummy
check "rdma link add and del"	link_nth "$(hunt_num 3000 2)"
check "no memory for a handle"	out_of_memory handles sr0
check "a new namespace"		nth "$(hunt_num 4000 2)" netns
faults_set Y
faults_on 2
vrb_cases -s "$SEED" -n "$(hunt_num 5 200)" "${traffic[@]}"
check "packets are dropped"	packets_are_dropped
faults_off
faults_set N
check "namespaces are deleted"	netns_exit "$(hunt_num 2 200)"
check "no object is left" no_object_is_left
pair_down
check "the module is removed"	wait_freed rmmod_now
check "the module is loaded again"	nth "$(hunt_num 500 1)" module "$ko" "$TYPE"
modprobe "$TYPE"
check "no memory is lost"	no_memory_is_lost
ktap_end
