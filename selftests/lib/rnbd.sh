# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a disk of RNBD; source it after self.sh and disk.sh
#
#   rnbd_needed              skip the script if something is missing
#   server_up [ARGUMENT...], server_down   the server of /dev/srnic, on sr1; arguments of
#                            rtrs-server
#   map, unmap               the client, on sr0, whose disk is /dev/srnic of the server
#   remote                   print that disk
# shellcheck shell=bash

ctl=/sys/devices/virtual/rnbd-client/ctl
path=ip:10.9.0.1@ip:10.9.0.2

rnbd_needed()
{
	need rdma fio tc ethtool
	modprobe -q null_blk nr_devices=0 || skip_all "no null_blk"
	modinfo rnbd-server >/dev/null 2>&1 || skip_all "no rnbd-server"
	modprobe -q rnbd-client || skip_all "no rnbd-client"
}

server_up()
{
	modprobe rtrs-server "$@" && modprobe rnbd-server
}

server_down()
{
	modprobe -r rnbd-server && ! grep '^rtrs_server ' /proc/modules
}

remote()
{
	local name

	name=$(readlink "$ctl/devices/dev!srnic@srnic") && [ -b "/dev/${name##*/}" ] &&
		echo "/dev/${name##*/}"
}

# tell FILE WORD...: write the words to it
tell()
{
	# shellcheck disable=SC2016 # for that shell
	bounded bash -c 'file=$1; shift; echo "$*" >"$file"' - "$@"
}

map()
{
	tell "$ctl/map_device" sessname=srnic "path=$path" device_path=dev/srnic &&
		wait_for remote
}

unmap()
{
	local name

	name=$(remote) && tell "/sys/block/${name##*/}/rnbd/unmap_device" normal &&
		wait_for fails remote
}
