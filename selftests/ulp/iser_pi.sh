#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Protection information (T10-PI) goes from an iSER initiator to the disk of its target and back.
# The block layer of the initiator generates and verifies IP checksums, which the device turns into
# the CRC of the wire and of the target's disk, or the device does it alone.
#
#   initiator [sr0] veth0 ================ veth1 [sr1] target with a disk in memory (LIO, rd_mcp)
#
# Both are in the initial namespace.  The target verifies the tuples that its disk is to have.
#
# run: iSER with T10-PI | linux open-iscsi
#   | modules ib_iser with ``pi_enable=1`` and ib_isert; the initial network namespace
#   | attribute ``t10_pi`` of the target's portal group, ``pi_prot_type`` of the disk

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/scsi.sh"
. "$selftests/lib/iser.sh"
. "$selftests/lib/protected.sh"

iser_needed

# shellcheck disable=SC2154 # of scsi.sh
store=$lio/core/rd_mcp_0/srnic

store_up()
{
	modprobe target_core_mod && mkdir -p "$store" && put rd_pages=16384 "$store/control" &&
		put 1 "$store/enable" && put 1 "$store/attrib/pi_prot_type"
}

store_down()
{
	rmdir "$store" "${store%/*}"
}

all_down()
{
	node --logout
	initiator_down
	target_down
	store_down
	self_down
	protected_down
	modprobe -r ib_iser
	modprobe -r ib_isert
	modprobe -r target_core_mod
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 34))
modprobe -qr ib_iser
check "two devices and a wire"		self_up
check "they offer protection"		protection_offered
check "a disk with protection"		store_up
check "a target"			target_up rd_mcp_0 1
check "pages for the tuples"		modprobe ib_iser pi_enable=1
check "an initiator"			initiator_up
check "login"				login
check "the disk is protected"		protected_by T10-DIF-TYPE1-IP
disk_checks
check "the target wrote to the initiator"	counter_over nsA sr0 rx_write_requests 100
check "the target read from the initiator"	counter_over nsA sr0 rx_read_requests 100
protected_checks
check "logout"				logout
check "the target is removed"		target_down
ktap_end
