# SPDX-License-Identifier: GPL-2.0
# srnic selftests - files on NFS over RDMA, of a server on nsB; source it after netns.sh
#
#   nfs_needed               skip the script if something is missing
#   server_up VERSION, server_down   the server of $srv, a folder in memory; a server of version
#                            3 has no other one
#   mount_it VERSION [OPTIONS], umount_it   the client, on nsA, which has it at $mnt
#   remount                  drop the client's cache, so that files are read from the server
#   tree_in, tree_out        copy files of all sizes, and compare them on the other side
#   disconnected             no connection is left
#   direct KIND SIZE DEPTH TOTAL     direct I/O, without the page cache, to $mnt/file
#   in_net NS COMMAND...     run it in that network namespace, but in the common mount namespace
#   nfs_down                 everything, and the folders
#
# A script may set the server's name for the client, $nfs_server, and the options of the export,
# $nfs_export.
# shellcheck shell=bash

nfsd=/proc/fs/nfsd
mountd_port=20048
nfs_server=10.9.0.2
nfs_export=rw,fsid=0,no_root_squash,no_subtree_check

nfs_needed()
{
	local module

	need rdma mount.nfs exportfs rpc.mountd nfsdcld fio tc ethtool
	for module in nfsd rpcrdma nfs nfsv4; do
		modprobe -q "$module" || skip_all "no $module"
	done
	dir=$(mktemp -d)
	srv=$dir/srv mnt=$dir/mnt copy=$dir/copy
	mkdir "$srv" "$mnt" "$copy" "$dir/pipe" "$dir/cld"
}

in_net()
{
	nsenter "--net=/run/netns/$1" "${@:2}"
}

# nfs_daemon NS COMMAND...: start a daemon on that host; server_down kills it by its process ID
nfs_daemon()
{
	nsenter "--net=/run/netns/$1" "${@:2}" 2>/dev/null &
}

# daemons_up: what a server of version 4 needs, for access control and for client tracking
daemons_up()
{
	in_net nsB mount -t rpc_pipefs pipe "$dir/pipe" || return
	nfs_daemon nsB nfsdcld -F -p "$dir/pipe" -s "$dir/cld"
	nfs_daemon nsB rpc.mountd -F -N 2 -N 3
	wait_for is_open inotify && wait_for is_open nfsd.fh/channel
}

# daemons_3_up: what one of version 3 needs; the kernel's lock manager registers its ports
daemons_3_up()
{
	nfs_daemon nsB rpcbind -f
	wait_for listening nsB 111 || return
	nfs_daemon nsB rpc.mountd -F -N 2 -N 4 -p "$mountd_port"
	wait_for listening nsB "$mountd_port" && wait_for is_open nfsd.fh/channel
}

# is_open FILE: a daemon is ready for requests of the kernel
is_open()
{
	local pid

	for pid in $(jobs -p); do
		readlink "/proc/$pid/fd/"* | grep "$1" && return
	done
	return 1
}

# clock_runs: the kernel is a second and some ticks old; a server of version 4 takes clients of the first one for
# expired
clock_runs()
{
	[[ $(</proc/uptime) != @(0.*|1.0*) ]]
}

server_up()
{
	mount -t tmpfs srv "$srv" && in_net nsB mount -t nfsd nfsd "$nfsd" &&
		echo 1048576 >"$nfsd/max_block_size" &&
		in_net nsB exportfs -o "$nfs_export" "*:$srv" || return
	if [ "$1" = 3 ]; then
		echo +3 -4 >"$nfsd/versions" && daemons_3_up
	else
		echo -3 +4 >"$nfsd/versions" && daemons_up
	fi && wait_for clock_runs && echo rdma 20049 >"$nfsd/portlist" && echo 4 >"$nfsd/threads"
}

server_down()
{
	echo 0 >"$nfsd/threads" && in_net nsB exportfs -ua || return
	jobs -p | xargs -r kill
	wait
	umount "$nfsd" "$srv" && ! umount "$dir/pipe" 2>/dev/null || true
}

# A server of version 3 has no root of all exports, and its locks would take a daemon on nsA.
mount_it()
{
	local from=/ options=vers=$1,proto=rdma,port=20049${2:+,$2}

	mounted_as=("$@")
	[ "$1" != 3 ] || from=$srv options+=,nolock,mountproto=tcp,mountport=$mountd_port
	in_net nsA bounded mount -t nfs -o "$options" "$nfs_server:$from" "$mnt"
}

umount_it()
{
	bounded umount "$mnt"
}

remount()
{
	umount_it && mount_it "${mounted_as[@]}"
}

tree_in()
{
	# shellcheck disable=SC2154 # of netns.sh
	bounded cp -r "$selftests" "$mnt/tree" && remount && diff -r "$selftests" "$srv/tree"
}

tree_out()
{
	bounded cp -r "$mnt/tree" "$copy/" &&
		diff -r "$srv/tree" "$copy/tree" && rm -r "$copy/tree"
}

# A lost DREQ is retransmitted after seconds.  Until it is answered rpcrdma keeps a
# connection whose transport has been freed, and if the device is removed then,
# Linux 7.3 asks that transport to disconnect (rpcrdma_ep_removal_done()).
disconnected()
{
	! { rdma res show qp; on nsA rdma res show qp; on nsB rdma res show qp; } |
		grep 'type RC'
}

direct()
{
	bounded fio --name=srnic --filename="$mnt/file" --rw="$1" --bs="$2" \
		--iodepth="$3" --size="$4" --ioengine=libaio --direct=1 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0
}

nfs_down()
{
	umount -f "$mnt"
	server_down
	umount "$nfsd" "$dir/pipe" "$srv"
	rm -r "$dir"
} >/dev/null 2>&1
