# SPDX-License-Identifier: GPL-2.0
# srnic selftests - disks of SCSI over RDMA; source it after disk.sh
#
#   lio_up, lio_down         the disk, for targets of LIO: $lio/core/fileio_0/srnic
#   scsi_disk DRIVER         print the disk of a SCSI host of that driver
#   scsi_checks DIES RETURNS disk_checks and 19 more, of a disk that outlasts losses and breaks,
#                            among them these functions; login, logout, remote and
#                            outlasts BREAK MEND are of the script
# shellcheck shell=bash

lio=/sys/kernel/config/target

lio_up()
{
	local store=$lio/core/fileio_0/srnic

	modprobe -a target_core_mod target_core_file && mkdir -p "$store" &&
		put fd_dev_name=/dev/srnic "$store/control" && put 1 "$store/enable"
}

lio_down()
{
	rmdir "$lio/core/fileio_0/srnic" "$lio/core/fileio_0"
	modprobe -r target_core_file target_core_mod
}

scsi_disk()
{
	local host name

	for host in /sys/class/scsi_host/*; do
		[ "$(cat "$host/proc_name")" = "$1" ] || continue
		for name in "$host"/device/{,session*/}target*/*/block/*; do
			[ -b "/dev/${name##*/}" ] && echo "/dev/${name##*/}" && return
		done
	done
	return 1
} 2>/dev/null

scsi_checks()
{
	local before

	disk_checks
	check "the initiator's bytes crossed"	crossed nsB sr1 20000000
	check "the target's bytes crossed"	crossed nsA sr0 20000000
	check_srnic "the target wrote to the initiator"	counter_over nsA sr0 rx_write_requests 100
	check_srnic "the target read from the initiator"	counter_over nsA sr0 rx_read_requests 100
	check_srnic "no request used loopback"	counter_is nsA sr0 local_requests 0

	check "data that are kept"		data_in "$(remote)"
	check "the wire is cut"			outlasts wire_cut wire_joined
	check "the data are the same"		data_same "$(remote)"
	check "the target's device is gone"	outlasts "$1" "$2"
	check "the data are the same again"	data_same "$(remote)"
	check "randwrite 4k in that session"	fio_remote randwrite 4k 32 2m

	before=$(counter nsA sr0 retrans_pkts)
	check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
	check "in the other direction, too"	netem nsB veth1 loss 1%
	check "write 64k over that wire"	fio_remote write 64k 8 8m
	check "randwrite 4k over that wire"	fio_remote randwrite 4k 32 2m
	check "logout over that wire"		logout
	check "login over that wire"		login
	check "the data are the same there"	data_same "$(remote)"
	check_srnic "packets were sent again"	counter_over nsA sr0 retrans_pkts "$before"
}
