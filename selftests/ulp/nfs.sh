#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Files on NFS over RDMA have the contents that were written, on a reliable wire, on one that
# loses packets, and after the client's link was removed and created again.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#   client                                 server of a folder in memory
#
# run: NFS, client and server | linux nfs-common nfs-kernel-server
#   | modules rpcrdma and nfsd; on the server ``echo rdma 20049 >/proc/fs/nfsd/portlist``
#   | ``mount -t nfs -o vers=4.1,proto=rdma,port=20049 10.9.0.2:/ /mnt``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"

need rdma mount.nfs exportfs rpc.mountd nfsdcld fio tc ethtool
for module in nfsd rpcrdma nfs nfsv4; do
	modprobe -q "$module" || skip_all "no $module"
done

dir=$(mktemp -d)
srv=$dir/srv mnt=$dir/mnt copy=$dir/copy
nfsd=/proc/fs/nfsd
mkdir "$srv" "$mnt" "$copy" "$dir/pipe" "$dir/cld"

# in_net NS COMMAND...: run it in that network namespace, but in the common mount namespace
in_net()
{
	nsenter "--net=/run/netns/$1" "${@:2}"
}

# daemons_up: start the daemons that nfsd needs, for access control and for client tracking
daemons_up()
{
	in_net nsB mount -t rpc_pipefs pipe "$dir/pipe" &&
		in_net nsB exportfs -o rw,fsid=0,no_root_squash,no_subtree_check \
			"*:$srv" || return
	# not by in_net(), since they are killed by their process IDs
	nsenter --net=/run/netns/nsB nfsdcld -F -p "$dir/pipe" -s "$dir/cld" &
	nsenter --net=/run/netns/nsB rpc.mountd -F -N 2 -N 3 2>/dev/null &
	wait_for is_open inotify && wait_for is_open nfsd.fh/channel
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

server_up()
{
	mount -t tmpfs srv "$srv" &&
		in_net nsB mount -t nfsd nfsd "$nfsd" &&
		echo -3 >"$nfsd/versions" &&
		echo 1048576 >"$nfsd/max_block_size" && daemons_up &&
		echo rdma 20049 >"$nfsd/portlist" && echo 4 >"$nfsd/threads"
}

server_down()
{
	echo 0 >"$nfsd/threads" && in_net nsB exportfs -ua
}

mount_it()
{
	in_net nsA bounded mount -t nfs \
		-o vers=4.1,proto=rdma,port=20049 10.9.0.2:/ "$mnt"
}

# of_1m: READs and WRITEs have up to 1 MiB
of_1m()
{
	grep " $mnt nfs4 .*,rsize=1048576,wsize=1048576,.*,proto=rdma," /proc/mounts
}

umount_it()
{
	bounded umount "$mnt"
}

# Drop the client's cache, so that files are read from the server.
remount()
{
	umount_it && mount_it
}

# tree_in, tree_out: copy files of all sizes, and compare them on the other side
tree_in()
{
	bounded cp -r "$selftests" "$mnt/tree" && remount &&
		diff -r "$selftests" "$srv/tree"
}

tree_out()
{
	bounded cp -r "$mnt/tree" "$copy/" &&
		diff -r "$srv/tree" "$copy/tree" && rm -r "$copy/tree"
}

# direct KIND SIZE DEPTH TOTAL: direct I/O, without the page cache
direct()
{
	bounded fio --name=srnic --filename="$mnt/file" --rw="$1" --bs="$2" \
		--iodepth="$3" --size="$4" --ioengine=libaio --direct=1 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0
}

# A lost DREQ is retransmitted after seconds.  Until it is answered rpcrdma keeps a
# connection whose transport has been freed, and if the device is removed then,
# Linux 7.3 asks that transport to disconnect (rpcrdma_ep_removal_done()).
disconnected()
{
	! { rdma res show qp; on nsA rdma res show qp; on nsB rdma res show qp; } |
		grep 'type RC'
}

# link_again: remove the link of the server's peer, and create it again
link_again()
{
	on nsA bounded rdma link del sr0 &&
		on nsA rdma link add sr0 type "$TYPE" netdev veth0 &&
		wait_for gid_ready nsA sr0
}

# The client reconnects after 5 seconds.
still_there()
{
	bounded cat "$mnt/tree/plan" | cmp - "$srv/tree/plan"
}

all_down()
{
	umount -f "$mnt"
	server_down
	jobs -p | xargs -r kill
	wait
	umount "$nfsd" "$dir/pipe" "$srv"
	rm -r "$dir"
	pair_down
} >/dev/null 2>&1

trap all_down EXIT

ktap_plan 25
check "two hosts"			hosts_up
check "a server"			server_up
check "mount"				mount_it
check "with requests of 1 MiB"		of_1m
check "a tree is written"		tree_in
check "a tree is read"			tree_out
check "direct write of 1 MiB"		direct write 1m 4 8m
check "direct randwrite of 4 KiB"	direct randwrite 4k 16 1m
check "direct randwrite of 2.5 KiB"	direct randwrite 2560 8 320k
check "the server wrote to the client"	counter_over nsA sr0 rx_write_requests 20
check "the server read from the client"	counter_over nsA sr0 rx_read_requests 20
check "umount"				umount_it

check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
check "in the other direction, too"	netem nsB veth1 loss 1%
check "mount over that wire"		mount_it
check "direct write over that wire"	direct write 256k 4 8m
check "direct randwrite over that wire"	direct randwrite 4k 16 1m
check "a tree is read over that wire"	tree_out
check "umount over that wire"		umount_it
check "the wire is reliable again"	clear_wire
check "both ends have disconnected"	wait_for disconnected

check "mount once more"			mount_it
check "the client's link is removed and created" link_again
check "the files are still there"	still_there
check "umount at the end"		umount_it
server_down
ktap_end
