#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk of NVMe over Fabrics returns the data written to it, with fast registration on the
# host and READs and WRITEs on the target, on a reliable wire and on one that loses packets;
# and a target is removed with its link.
#
#   host [sr0] veth0 ================ veth1 [sr1] target with a disk in memory
#
# run: NVMe over Fabrics, host and target | linux nvme-cli
#   | modules nvme-rdma and nvmet-rdma; the initial network namespace
#   | ``nvme connect -t rdma -a 10.9.0.2 -s 4420 -n NQN``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/nvme.sh"

need rdma nvme fio mkfs.ext4 tc ethtool
modprobe -q null_blk nr_devices=0 || skip_all "no null_blk"
modprobe -q nvmet-rdma || skip_all "no nvmet-rdma"
modprobe -q nvme-rdma || skip_all "no nvme-rdma"

# target_comes_back: with shared receive queues
target_comes_back()
{
	modprobe -r nvmet-rdma && modprobe nvmet-rdma use_srq=1 &&
		link_comes nsB sr1 veth1 && target_up /dev/srnic
}

# on_ext4: write files, drop the page cache, read them back; fsck finds nothing
on_ext4()
{
	local dir disk

	disk=$(remote) && dir=$(mktemp -d) && mkfs.ext4 -q "$disk" &&
		mount "$disk" "$dir" || return
	cp -r "$selftests" "$dir/tree" && fio_on "$dir/file" write 64k 8 8m &&
		umount "$dir" && e2fsck -fn "$disk" && mount "$disk" "$dir" &&
		diff -r "$selftests" "$dir/tree" &&
		umount "$dir" && rmdir "$dir"
}

# link_comes NS DEV NETDEV
link_comes()
{
	local now

	rdma link add "$2" type "$TYPE" netdev "$3" &&
		wait_for gid_ready "$1" "$2" && now=$(objects) || return
	objects_before=$(printf '%s\n' "$objects_before" \
		"$(grep "^$2:" <<<"$now")" | sort)
}

all_down()
{
	nvme disconnect -n srnic
	self_down
	target_down
	disk_down
	modprobe -r nvme-rdma
	modprobe -r nvmet-rdma
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 23))
check "two devices and a wire"		self_up
check "a disk in memory"		disk_up
check "a target"			target_up /dev/srnic
check "connect"				connect
disk_checks
check "requests were left to others"	counter_over nsA sr0 doorbell_handed_over 0
check "and at the target"		counter_over nsB sr1 doorbell_handed_over 0
check "the target wrote to the host"	counter_over nsA sr0 rx_write_requests 100
check "the target read from the host"	counter_over nsA sr0 rx_read_requests 100
if modprobe -q ext4; then
	check "ext4"			on_ext4
else
	skip "ext4"			"not in this kernel"
fi
check "disconnect"			disconnect

check "connect, then remove the target"	connect
check "the target is removed, link first"	target_goes
check "the host leaves the group"	disconnect
check "a target with shared receives"	target_comes_back

check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
check "in the other direction, too"	netem nsB veth1 loss 1%
check "connect over that wire"		connect
check "write 64k over that wire"	fio_remote write 64k 8 8m
check "randwrite 4k over that wire"	fio_remote randwrite 4k 32 2m
check "disconnect over that wire"	disconnect
check "packets were duplicated"		counter_over nsA sr0 go_back 0
check "the wire loses nothing again"	clear_wire
check "the target is removed, link first"	target_goes
ktap_end
