#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk of tgt, whose iSER target is a process, returns the data written to it, on a reliable wire
# and on one that loses packets.  The kernel's initiator logs in again after the wire was cut and
# after the target's process was killed, and no request fails.
#
#   initiator [sr0] veth0 ================ veth1 [sr1] target with a disk in memory
#
# Both are in the initial namespace, the only one that the initiator knows.
#
# run: tgt, target of iSER | tgt open-iscsi
#   | module rdma_ucm, and module ib_iser for the initiator, in the initial network namespace;
#   both ``--initiator-address`` and ``--initiator-name`` bound to the target
#   | ``tgtd --iser pool_sz_mb=128``, then ``tgtadm --lld iser --mode target --op new --tid 1 -T
#   IQN``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/scsi.sh"
. "$selftests/lib/iser.sh"

initiator_needed
need tgtd tgtadm
! pgrep -x tgtd >/dev/null || skip_all "another tgtd is running"
modprobe -q null_blk nr_devices=0 || skip_all "no null_blk"

tgtd=	# process ID

tgt()
{
	bounded tgtadm --lld iser "$@"
}

# target_up: replaces the function of iser.sh.  For iSER tgtd compares both, address and name.
target_up()
{
	tgtd --foreground --iser pool_sz_mb=128 &
	tgtd=$!
	wait_for tgt --mode sys --op show &&
		tgt --mode target --op new --tid 1 -T "${name:?}" &&
		tgt --mode logicalunit --op new --tid 1 --lun 1 -b /dev/srnic &&
		tgt --mode target --op bind --tid 1 --initiator-address ALL &&
		tgt --mode target --op bind --tid 1 --initiator-name iqn.2026-11.org.srnic:host
}

target_down()
{
	tgt --mode target --op delete --force --tid 1 && tgt --mode sys --op delete &&
		wait_for ended "$tgtd" && wait "$tgtd"
}

target_dies()
{
	kill -9 "$tgtd"
	wait_for ended "$tgtd"
}

all_down()
{
	node --logout
	initiator_down
	kill -9 "$tgtd"
	wait "$tgtd"
	self_down
	disk_down
	modprobe -r ib_iser
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 27))
check "two devices and a wire"		self_up
check "a disk in memory"		disk_up
check "a target"			target_up
check "an initiator"			initiator_up
check "login"				login
scsi_checks target_dies target_up
check "logout"				logout
check "the wire loses nothing again"	clear_wire
check "the target is removed"		target_down
ktap_end
