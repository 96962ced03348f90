#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk of the SCSI RDMA Protocol (SRP) returns the data written to it, on a reliable wire and on
# one that loses packets: the target reads from the initiator's memory and writes to it.  The
# initiator logs in again after the wire was cut and after the target's device was gone, and no
# request fails.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] initial namespace
#   initiator                                    target with a disk in memory
#
# The target knows no other namespace.
#
# run: SRP, initiator and target | linux
#   | modules ib_srp and ib_srpt; for the target the initial network namespace and a
#   ``rdma_cm_port``; if requests are to wait for a lost target, ``fast_io_fail_tmo=off`` for
#   ib_srp, a long ``dev_loss_tmo``, and a long timeout of the disk
#   | ``echo id_ext=GUID,ioc_guid=GUID,dest=10.9.0.2:5555
#   >/sys/class/infiniband_srp/srp-srnic0-1/add_target``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/pool.sh"
. "$selftests/lib/wire.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/scsi.sh"

need rdma fio tc ethtool nsenter
! grep -q '^ib_srpt* ' /proc/modules || skip_all "SRP is in use here"
modprobe -q null_blk nr_devices=0 || skip_all "no null_blk"
modinfo ib_srpt >/dev/null 2>&1 || skip_all "no ib_srpt"
modinfo ib_srp >/dev/null 2>&1 || skip_all "no ib_srp"
modprobe -q sd_mod || skip_all "no sd_mod"

port=5555
guid=	# of the target

# host_new of netns.sh, with nsB for the initial namespace
host_new()
{
	if [ "$1" = nsB ]; then
		ip netns attach nsB 1
	else
		ip netns add "$1"
	fi
}

# srp_up: requests wait ten minutes for the target
srp_up()
{
	# shellcheck disable=SC2154 # of disk.sh
	modprobe ib_srpt && mkdir -p "$lio/srpt" &&
		put "$port" "$lio/srpt/discovery_auth/rdma_cm_port" &&
		modprobe ib_srp reconnect_delay=1 fast_io_fail_tmo=off dev_loss_tmo=600
}

# group: print the folder of the target's port
group()
{
	echo "$lio/srpt/$guid/$guid"
}

srp_down()
{
	modprobe -r ib_srp && rmdir "$lio/srpt" && modprobe -r ib_srpt
}

# target_up: which of the two addresses the target compares depends on the kernel
target_up()
{
	local address acl group

	guid=$(</sys/class/infiniband/sr1/ports/1/gids/0)
	guid=${guid#*:*:*:*:}
	group=$(group)
	mkdir -p "$group" && mkdir "$group/lun/lun_0" &&
		ln -s "$lio/core/fileio_0/srnic" "$group/lun/lun_0/srnic" || return
	for address in 10.9.0.1 10.9.0.2; do
		acl=$group/acls/$address
		mkdir "$acl" && mkdir "$acl/lun_0" &&
			ln -s "$group/lun/lun_0" "$acl/lun_0/srnic" || return
	done
	put 1 "$group/enable"
}

target_down()
{
	local group

	group=$(group)
	put 0 "$group/enable"
	rm "$group"/acls/*/lun_0/srnic && rmdir "$group"/acls/*/lun_0 "$group"/acls/* &&
		rm "$group/lun/lun_0/srnic" && rmdir "$group/lun/lun_0" "$group" "$lio/srpt/$guid"
}

# add_target: from nsA, by the files of the initial namespace; fails only as long as an earlier
# login is not undone, and otherwise sets $refused to what is said
add_target()
{
	local service

	service=$(</sys/module/ib_srpt/parameters/srpt_service_guid)
	service=${service#0x}
	# shellcheck disable=SC2016 # for that shell
	refused=$(nsenter --net=/run/netns/nsA bounded bash -c 'echo "$1" >"$2"' - \
		"id_ext=$service,ioc_guid=$service,dest=10.9.0.2:$port" \
		/sys/class/infiniband_srp/srp-sr0-1/add_target 2>&1) ||
		[[ $refused != *"File exists"* ]]
}

# login: requests wait ten minutes, too
login()
{
	local file refused

	wait_for add_target && [ -z "$refused" ] || { echo "$refused"; return 1; }
	wait_for remote && file=$(remote) && put 600 "/sys/block/${file##*/}/device/timeout"
}

logout()
{
	put 1 /sys/class/srp_remote_ports/port-*/delete && wait_for fails remote
}

remote()
{
	scsi_disk ib_srp
}

# port_is STATE
port_is()
{
	cat /sys/class/srp_remote_ports/port-*/state | grep -x "$1"
}

target_returns()
{
	target_down && peer_returns && target_up
}

# outlasts BREAK MEND: the initiator notices only if it sends something
outlasts()
{
	local file late

	file=$(remote) && load_begins "$file" && "$1" || return
	dd if="$file" of=/dev/null bs=4k count=1 iflag=direct &
	late=$!
	wait_for port_is blocked && "$2" && wait_for port_is running && load_ends &&
		wait "$late"
}

all_down()
{
	put 1 /sys/class/srp_remote_ports/port-*/delete
	target_down
	srp_down
	lio_down
	pair_down
	disk_down
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 28))
check "two hosts"			hosts_up
check "a disk in memory"		disk_up
check "initiator and target are loaded"	srp_up
check "a target"			eval "lio_up && target_up"
check "login"				login
scsi_checks peer_dies target_returns
check "logout"				logout
check "the wire loses nothing again"	clear_wire
check "the target is removed"		target_down
check "initiator and target are unloaded"	srp_down
ktap_end
