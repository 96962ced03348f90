#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk of iSCSI over RDMA (iSER) returns the data written to it, on a reliable wire and on one
# that loses packets: the target reads from the initiator's memory and writes to it.  The
# initiator logs in again after the wire was cut and after the target's device was gone, and no
# request fails.
#
#   initiator [sr0] veth0 ================ veth1 [sr1] target with a disk in memory
#
# Both are in the initial namespace, the only one that they know.
#
# run: iSER, initiator and target | linux open-iscsi
#   | modules ib_iser and ib_isert; the initial network namespace;
#   ``node.session.timeo.replacement_timeout = -1`` in iscsid.conf if requests are to wait for a
#   lost target
#   | ``iscsiadm -m node -T IQN -p 10.9.0.2 -I iser -o new``, then ``iscsiadm -m node -T IQN
#   --login``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/scsi.sh"
. "$selftests/lib/iser.sh"

iser_needed
modprobe -q null_blk nr_devices=0 || skip_all "no null_blk"

all_down()
{
	node --logout
	initiator_down
	target_down
	lio_down
	self_down
	disk_down
	modprobe -r ib_iser
	modprobe -r ib_isert
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 27))
check "two devices and a wire"		self_up
check "a disk in memory"		disk_up
check "a target"			eval "lio_up && target_up fileio_0 0"
check "an initiator"			initiator_up
check "login"				login
scsi_checks peer_dies peer_returns
check "logout"				logout
check "the wire loses nothing again"	clear_wire
check "the target is removed"		target_down
ktap_end
