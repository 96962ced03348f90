# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a disk of iSCSI over RDMA; source it after self.sh, disk.sh and scsi.sh
#
#   initiator_needed            skip the script if something that the initiator needs is missing
#   iser_needed                 ... or something that the kernel's target needs
#   target_up STORE PI, target_down   a target of the disk $lio/core/STORE/srnic, on sr1; PI is 1
#                               if protection information is transferred, else 0
#   initiator_up, initiator_down      on sr0
#   login, logout
#   remote                      print the initiator's disk
#   outlasts BREAK MEND         a load, while BREAK ends the session and after MEND has made it return
# shellcheck shell=bash

initiator_needed()
{
	need rdma fio tc ethtool iscsid iscsiadm
	modinfo ib_iser >/dev/null 2>&1 || skip_all "no ib_iser"
	modprobe -q sd_mod || skip_all "no sd_mod"
	! ss -Hxl | grep -q ISCSIADM_ABSTRACT || skip_all "another iscsid is running"
}

iser_needed()
{
	initiator_needed
	modinfo ib_isert >/dev/null 2>&1 || skip_all "no ib_isert"
}

name=iqn.2026-11.org.srnic:disk
# shellcheck disable=SC2154 # of scsi.sh
target=$lio/iscsi/$name
group=$target/tpgt_1
daemon=	# process ID of iscsid

target_up()
{
	local np=$group/np/0.0.0.0:3260

	modprobe ib_isert && mkdir -p "$group" && put "$2" "$group/attrib/t10_pi" &&
		put 0 "$group/attrib/authentication" &&
		put 1 "$group/attrib/generate_node_acls" &&
		put 1 "$group/attrib/cache_dynamic_acls" &&
		put 0 "$group/attrib/demo_mode_write_protect" &&
		mkdir "$group/lun/lun_0" "$np" &&
		ln -s "$lio/core/$1/srnic" "$group/lun/lun_0/srnic" &&
		put 1 "$np/iser" && put 1 "$group/enable"
}

target_down()
{
	put 0 "$group/enable" && rmdir "$group"/np/* && rm "$group/lun/lun_0/srnic" &&
		rmdir "$group/lun/lun_0" "$group" "$target" "$lio/iscsi"
}

# initiator_up: with a configuration of its own.  Requests wait for the target for ever.
initiator_up()
{
	modprobe ib_iser && mount -t tmpfs iscsi /etc/iscsi &&
		echo InitiatorName=iqn.2026-11.org.srnic:host >/etc/iscsi/initiatorname.iscsi &&
		echo node.session.timeo.replacement_timeout = -1 >/etc/iscsi/iscsid.conf ||
		return
	setsid iscsid -f &	# its exit interrupts its process group
	daemon=$!
	wait_for listens
}

listens()
{
	ss -Hxl | grep ISCSIADM_ABSTRACT
}

initiator_down()
{
	[ -n "$daemon" ] || return
	kill "$daemon"
	wait "$daemon"
	umount /etc/iscsi
}

# node ARGUMENT...
node()
{
	bounded iscsiadm -m node -T "$name" -p 10.9.0.2:3260 "$@"
}

login()
{
	node -I iser -o new && node --login && wait_for remote
}

logout()
{
	node --logout && node -o delete && wait_for fails remote
}

remote()
{
	scsi_disk iscsi_iser
}

# session_is STATE
session_is()
{
	cat /sys/class/iscsi_session/session*/state | grep -x "$1"
}

# outlasts BREAK MEND
outlasts()
{
	load_begins "$(remote)" && "$1" && wait_for session_is FAILED && "$2" &&
		wait_for session_is LOGGED_IN && load_ends
}
