#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a process posts beyond what its system calls do is done at the expense of its CPU
# cgroup, and rests while the process is stopped; its peer is answered meanwhile.  Nothing is
# lost when it forks, executes another program, is killed, or loses the device.  The thread that
# does it is created for requests alone, and what it has to do does not wait for ever.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#    |  user 65534, cgroup "hog": four pairs of queue pairs on sr0
#    root: its peer, also on sr0, or on sr1

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/hunt.sh"

need rdma gcc
cgroup=/sys/fs/cgroup/hog
grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null ||
	skip_all "no CPU cgroup"
has_workers || skip_all "this kernel has no vhost tasks"

hunt_make
modprobe -q ib_uverbs

cgroup_up()
{
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && mkdir -p "$cgroup" &&
		echo "50000 100000" >"$cgroup/cpu.max"
}

# owner CASE: cgroups are not visible inside "ip netns exec"
owner()
{
	on nsA bounded "${hunt_dir:?}/hunt-owner" sr0 "$1" 7 8 \
		7>"$cgroup/cgroup.procs" 8<"$cgroup/cpu.stat" && no_object_is_left
}

# asking USECS COMMAND...: the program asks for a polled doorbell
asking()
{
	local -x SRNIC_POLL_USECS=$1

	"${@:2}"
}

# polled USECS COMMAND...: and it has it
polled()
{
	local before

	before=$(counter nsA sr0 doorbell_polled)
	asking "$@" && counter_over nsA sr0 doorbell_polled "$before"
}

# worker CASE [NETNS DEV]
worker()
{
	on nsA bounded "${hunt_dir:?}/hunt-worker" sr0 "$@" && no_object_is_left
}

# keeps CASE: no request is left to an idle thread; shares CASE: some are, if there is a processor
keeps()
{
	local before

	before=$(counter nsA sr0 doorbell_handed_over)
	worker "$1" && counter_is nsA sr0 doorbell_handed_over "$before"
}

shares()
{
	local before counts=counter_is

	(($(nproc) == 1)) || counts=counter_over
	before=$(counter nsA sr0 doorbell_handed_over)
	worker "$1" && "$counts" nsA sr0 doorbell_handed_over "$before"
}

# loses CASE: the device is removed, and there is another one
loses()
{
	on nsA bounded "${hunt_dir:?}/hunt-owner" sr0 "$1" 7 8 \
		7>"$cgroup/cgroup.procs" 8<"$cgroup/cpu.stat" && pair_up
}

# module_goes: no thread is left in it
module_goes()
{
	pair_down
	wait_freed rmmod_again && modprobe srnic && pair_up
}

rmmod_again()
{
	[ ! -d /sys/module/srnic ] || rmmod srnic 2>/dev/null
}

trap 'pair_down; rmdir "$cgroup" 2>/dev/null' EXIT
ktap_plan 35
check "two hosts"				pair_up
check "a cgroup with half a processor"		cgroup_up
check "asleep, it pays"				owner sleep
check "stopped, it rests, and its peer is answered" owner stop
check "its child posts"				owner fork
check "it executes another program"		owner exec
check "the thread that posted exits"		owner thread
check "it may have no further thread"		owner limit
check "kill -9"					owner kill
check "it exits"				owner exit
check "polled, it pays"				polled 100000 owner sleep
check "polled and stopped, it rests"		polled 100000 owner stop
check "its child posts to the polled queue"	polled 1000000 owner fork
check "polled, it executes another program"	asking 1000000 owner exec
check "polled, kill -9"				asking 1000000 owner kill
check "polled, it exits"			asking 1000000 owner exit
check "a busy queue does not delay a polled one"	polled 1000000 worker beside
check "several queue pairs of a thread: others help"	shares several
check "not with a single one"			keeps single
check "nor with short messages"			keeps short
check "nor on a single processor"		keeps bound
check "nor to a thread of lower priority"	keeps behind
check "nor to one of SCHED_IDLE"		keeps idle
check "nor to one of higher priority"		keeps ahead
more="with more processors, several help"
if (($(nproc) > 2)); then
	check "$more"				shares many
else
	skip "$more" "there are none"
fi
check "a real-time thread posts, and polls"	worker fifo
check "a signal is pending"			worker signal
check "it closes the device"			worker close
check "many queue pairs have their share"	worker fair
check "it receives, and has no thread"		worker receive nsB sr1
check "its peer keeps the queue pair busy"	worker busy nsB sr1
check "its peer floods the queue pair"		worker flood nsB sr1
check "the device is removed while it is stopped" loses remove
check "the device is removed while it sleeps"	loses gone
check "the module is removed"			module_goes
ktap_end
