#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Kernel consumers can map, register, invalidate and deregister memory in every order that the
# verbs allow, and what the verbs do not allow is refused with its status and changes nothing:
# between two devices, and between two queue pairs of one (loopback).
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# The cases are functions of kverbs.ko, see test_modules.  They are run on rdma_rxe as well, with
# both devices in the initial network namespace, for the table at the end.  Where it differs is
# reported as TODO, with the reason in rxe-known if there is one.  All orders of four steps are
# executed between two devices alone; a fifth of them elsewhere.  Protection information (T10-PI)
# is also generated and checked, and masked atomics are executed, while packets are lost.  Those
# whose masks change nothing are also sent to rdma_rxe, which executes them; others use up all
# retries there.
# usage: kverbs.sh [CASE...]
#
# run: kernel verbs, called by a module of this project | linux
#   | headers of the kernel, 6.1 or newer
#   | ``make -C selftests/ulp && sudo selftests/ulp/kverbs.sh``

. "$(dirname "$0")/../lib/netns.sh"

# shellcheck disable=SC2154 # netns.sh says where the selftests are
here=$selftests/ulp
module=$here/test_modules/kverbs.ko
declare -A outcome	# by column and case
hung=			# a case: none is run after it

need rdma tc chrt

# built_here: there is a module in the tree, for this kernel
built_here()
{
	local version

	version=$(modinfo -F vermagic "$module") && [ "${version%% *}" = "$(uname -r)" ]
} 2>/dev/null

module_loads()
{
	modprobe -q ib_core
	[ ! -c /dev/kverbs ] || rmmod kverbs || return
	if ! built_here && modinfo kverbs >/dev/null 2>&1; then
		modprobe kverbs
	else
		insmod "$module"
	fi
}

[ -e "$module" ] || modinfo kverbs >/dev/null 2>&1 ||
	skip_all "no kverbs.ko for this kernel: make -C selftests/ulp"
ktap_first "kverbs.ko is loaded" module_loads

# case_ends OWN PEER CASE: print the result
case_ends()
{
	local fd reply

	exec {fd}<>/dev/kverbs || return
	echo "$KTAP_BOUND $*" >&"$fd" && read -r reply <&"$fd"
	exec {fd}>&-
	echo "$reply"
}

# case_passes COLUMN OWN PEER CASE
case_passes()
{
	local reply

	reply=$(case_ends "${@:2}")
	outcome[$1:$4]=$reply
	if [[ $reply == "late "* ]]; then
		hung=$4
		echo "# late: $4"
	fi
	echo "$reply"
	[[ $reply == ok || $reply == "ok: "* ]]
}

# check_here NAME COMMAND...: a hang may affect what follows
check_here()
{
	if [ -n "$hung" ]; then
		skip "$1" "not run after $hung"
	else
		check "$@"
	fi
}

# case_here NAME COLUMN OWN PEER CASE
case_here()
{
	check_here "$1" case_passes "${@:2}"
}

behind="in flight: a WRITE is posted behind others"
much="in flight: 1.5 MiB of WRITEs are polled for"
takes="in flight: a real-time thread takes their CPU"
waits="in flight: a thread waits for them, without a CPU"

# leaves: the last WRITE is left to a workqueue; keeps: not that of a real-time thread
leaves()
{
	local before

	before=$(counter nsB sr1 doorbell_handed_over)
	case_passes behind sr0 sr1 "$behind" && counter_over nsB sr1 doorbell_handed_over "$before"
}

keeps()
{
	local before

	before=$(counter nsB sr1 doorbell_handed_over)
	(chrt --fifo --pid 1 "$BASHPID" && case_passes behind sr0 sr1 "$behind") &&
		counter_is nsB sr1 doorbell_handed_over "$before"
}

# others_get_none: a processor that a real-time thread polls on is its own; print the commands that
# undo it.  Linux 6.12 refuses a limit without what it reserves for threads of normal priority.
others_get_none()
{
	local limit=/proc/sys/kernel/sched_rt_runtime_us server

	for server in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ ! -e "$server" ] || { echo "echo $(<"$server") >$server;" && echo 0 >"$server"; }
	done
	echo "echo $(<"$limit") >$limit" && echo -1 >"$limit"
}

# alone COMMAND...: beside a real-time thread that polls no other one has its processor
alone()
{
	local status=0 undo

	undo=$(others_get_none) || status=$?
	((status)) || "$@" || status=$?
	eval "$undo" && return "$status"
}

polls()
{
	(chrt --fifo --pid 1 "$BASHPID" && case_passes alone sr0 sr0 "$much")
}

# asks_ahead CASE: of 100 requests few are sent again for the sake of their ACKs
asks_ahead()
{
	local again before

	before=$(counter nsA sr0 retrans_pkts)
	case_passes ahead sr0 sr1 "$1" || return
	again=$(($(counter nsA sr0 retrans_pkts) - before))
	((again < 50)) || { echo "$again packets were sent again"; return 1; }
}

# known_reason CASE: print why rdma_rxe may differ
known_reason()
{
	awk -F '\t+' -v name="$1" '!/^#/ && $1 == name { print $2 }' "$here/rxe-known"
}

# case_rxe CASE: a difference is no failure of ours
case_rxe()
{
	local why

	why=$(known_reason "$1")
	if [ -n "$hung" ]; then
		skip "rdma_rxe: $1" "not run after $hung"
	elif [[ $why = "hangs: "* ]]; then
		skip "rdma_rxe: $1" "$why"
	elif case_passes rxe sr0 sr1 "$1" >/dev/null; then
		ktap_point ok "rdma_rxe: $1"
		[ -z "$why" ] || diag "rxe-known says that it differs: $why"
	else
		ktap_point "not ok" \
			"rdma_rxe: $1 # TODO ${why:-not in rxe-known: ${outcome[rxe:$1]:-no result}}"
	fi
}

# cell COLUMN CASE: print what the table has for it
cell()
{
	local reply=${outcome[$1:$2]:-not run}

	case $reply in
	ok) echo same ;;
	"ok: "*) echo "same (${reply#ok: })" ;;
	"failed "*) echo "differs: ${reply#failed }" ;;
	*) echo "$reply" ;;
	esac
}

# table: each case, and its result in each column
table()
{
	local case

	printf '%-60s %-10s %-10s %s\n' "what is expected" "two devices" "loopback" rdma_rxe
	for case in "${cases[@]}"; do
		printf '%-60s %-10s %-10s %s\n' "$case" "$(cell wire "$case")" \
			"$(cell local "$case")" "$(cell rxe "$case")"
	done
}

# self_of TYPE_A TYPE_B: two devices in this namespace; self.sh has names of netns.sh, too
self_of()
{
	# shellcheck disable=SC2034 # of netns.sh
	TYPE_A=$1 TYPE_B=$2
	. "$selftests/lib/self.sh"
	self_up
}

all_down()
{
	if declare -F self_down; then
		self_down
	else
		pair_down
	fi
	rmmod kverbs
} >/dev/null 2>&1

trap all_down EXIT

mapfile -t cases </dev/kverbs
(($# == 0)) || cases=("$@")

# many minutes where everything is slow
fewer=()
for case in "${cases[@]}"; do
	[[ $# == 0 && $case == "orders: all "* ]] || fewer+=("$case")
done

# where bytes of a region arrive in pieces, and atomics, which loss may repeat; not where a request
# is refused: that is said once
lossy=()
for case in "${cases[@]}"; do
	[[ $case == "integrity: nothing outside is accessed" ||
	   $case != @("integrity: "|"masked atomics: ")* ]] || lossy+=("$case")
done

# where the peer need not be srnic
mixed=()
for case in "${cases[@]}"; do
	[[ $case != "masked atomics: "@("masks of the plain ones"|"other masks") ]] ||
		mixed+=("$case")
done

ktap_plan $((${#cases[@]} + ${#lossy[@]} + 2 * ${#fewer[@]} + ${#mixed[@]} + 22))
check "two hosts"			pair_up
# refused without CRC_T10DIF: the cases then expect to be refused as well
setting nsA sr0 integrity 1 2>/dev/null && setting nsB sr1 integrity 1
for case in "${cases[@]}"; do
	case_here "$case"		wire sr0 sr1 "$case"
done
check_here "a WRITE behind others is left to a workqueue" leaves
check_here "not that of a real-time thread" keeps
check_here "requests ask for ACKs themselves" \
	asks_ahead "in flight: a key is invalidated after each answer"
check_here "so do those that an invalidation follows" \
	asks_ahead "in flight: a key is invalidated behind a WRITE"
check "one packet in fifty is lost"	netem nsA veth0 loss 2%
check "in the other direction, too"	netem nsB veth1 loss 2%
for case in "${lossy[@]}"; do
	case_here "lossy: $case"	lossy sr0 sr1 "$case"
done
# the case with more than a thousand packets, if it was run and not refused
if [ "${outcome[lossy:integrity: all pairs of domains, blocks of 512]-}" = ok ]; then
	check "packets were sent again"	counter_over nsB sr1 retrans_pkts 0
else
	skip "packets were sent again"	"few packets were sent"
fi
check "the wire loses nothing again"	clear_wire
changes="integrity: memory changes after it was read"
check "requests arrive twice, much later"	netem nsB veth1 delay 2ms 2ms duplicate 50%
case_here "twice: $changes"		twice sr0 sr1 "$changes"
if [ "${outcome[twice:$changes]-}" = ok ]; then
	check "requests were repeated"	counter_over nsA sr0 duplicate_request 0
else
	skip "requests were repeated"	"the case was not run"
fi
check "the wire repeats nothing again"	clear_wire
check "no request used loopback"	counter_is nsA sr0 local_requests 0
for case in "${fewer[@]}"; do
	case_here "loopback: $case"	local sr0 sr0 "$case"
done
if (($(nproc) > 1)); then
	check_here "another processor does what a real-time thread leaves" alone polls
	check_here "work goes on while a thread waits without a processor" \
		alone case_passes alone sr0 sr0 "$waits"
	check_here "work goes on where a real-time thread takes the processor" \
		alone case_passes alone sr0 sr0 "$takes"
else
	skip "another processor does what a real-time thread leaves" "there is one"
	skip "work goes on while a thread waits without a processor" "there is one"
	skip "work goes on where a real-time thread takes the processor" "there is one"
fi
check "requests used loopback"		counter_over nsA sr0 local_requests 0
check "no object of srnic is left"	no_object_is_left
pair_down

if modprobe -q rdma_rxe; then
	check "two devices of rdma_rxe"	self_of rxe rxe
	for case in "${fewer[@]}"; do
		case_rxe "$case"
	done
	check "rdma_rxe and srnic"	self_of rxe srnic
	for case in "${mixed[@]}"; do
		case_here "rdma_rxe has the region: $case" mixed sr0 sr1 "$case"
	done
else
	skip "two devices of rdma_rxe"	"this kernel has no rdma_rxe"
	for case in "${fewer[@]}"; do
		skip "rdma_rxe: $case"	"this kernel has no rdma_rxe"
	done
	skip "rdma_rxe and srnic"	"this kernel has no rdma_rxe"
	for case in "${mixed[@]}"; do
		skip "rdma_rxe has the region: $case" "this kernel has no rdma_rxe"
	done
fi
mapfile -t lines < <(table)
diag "${lines[@]}"
check "the module is unloaded"		rmmod kverbs
ktap_end
