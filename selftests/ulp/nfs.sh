#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Files on NFS over RDMA have the contents that were written, on a reliable wire, on one that
# loses packets, and after the client's link was removed and created again: with versions 3, 4.1
# and 4.2 of the protocol.  With 4.2 the server copies files, finds holes and allocates space.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#   client                                 server of a folder in memory
#
# usage: nfs.sh [VERSION...]
#
# run: NFS, client and server | linux nfs-common nfs-kernel-server
#   | modules rpcrdma and nfsd; on the server ``echo rdma 20049 >/proc/fs/nfsd/portlist``; for
#   version 3 rpcbind
#   | ``mount -t nfs -o vers=4.2,proto=rdma,port=20049 10.9.0.2:/ /mnt``; with ``vers=3`` the path
#   on the server, and ``mountproto=tcp``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/nfs.sh"

nfs_needed

# of_1m: READs and WRITEs have up to 1 MiB
of_1m()
{
	# shellcheck disable=SC2154 # of lib/nfs.sh
	grep " $mnt nfs.* rw,.*vers=$version,.*,proto=rdma," /proc/mounts |
		grep ",rsize=1048576,wsize=1048576,"
}

# asked PROCEDURE COMMAND...: the client leaves that to the server
asked()
{
	local before procedure=$1

	shift
	before=$(calls "$procedure")
	"$@" && (($(calls "$procedure") > before))
}

# calls PROCEDURE: print how often the client has called it since it mounted the files
calls()
{
	awk -v dir="$mnt" -v name="$1:" '$1 == "device" { ours = $5 == dir }
		ours && $1 == name { n = $2 } END { print n + 0 }' /proc/self/mountstats
}

# python_of FILE CODE: Python with that file open, by its number
python_of()
{
	bounded /usr/bin/python3 -c "import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
$2" "$1"
}

copied()
{
	# shellcheck disable=SC2154 # of lib/nfs.sh
	python_of "$mnt/copy" "
source = os.open('$mnt/file', os.O_RDONLY)
while os.copy_file_range(source, file, 1 << 30): pass" && cmp "$srv/file" "$srv/copy"
}

# space BYTES: what the file takes on the server
space()
{
	(($(stat -c '%b * %B' "$srv/space") == $1))
}

allocated()
{
	bounded fallocate -l 1m "$mnt/space" && space 1048576
}

# punched: between data at both ends
punched()
{
	bounded dd if="$mnt/file" of="$mnt/space" bs=1M count=1 conv=notrunc,fsync &&
		bounded fallocate -p -o 256k -l 512k "$mnt/space" && space 524288
}

hole()
{
	python_of "$mnt/space" "
hole = os.lseek(file, 0, os.SEEK_HOLE), os.lseek(file, 262144, os.SEEK_DATA)
sys.exit(hole != (262144, 786432))"
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
	nfs_down
	pair_down
} >/dev/null 2>&1

trap all_down EXIT

# check_of WHAT COMMAND...: a check of this version
check_of()
{
	check "$version: $1" "${@:2}"
}

# of_version: 26 checks, and those of 4.2
of_version()
{
	local reads writes

	writes=$(counter nsA sr0 rx_write_requests) reads=$(counter nsA sr0 rx_read_requests)
	check_of "a server"			server_up "$version"
	check_of "mount"			mount_it "$version"
	check_of "with requests of 1 MiB"	of_1m
	check_of "a tree is written"		tree_in
	check_of "a tree is read"		tree_out
	check_of "direct write of 1 MiB"	direct write 1m 4 8m
	check_of "direct randwrite of 4 KiB"	direct randwrite 4k 16 1m
	check_of "direct randwrite of 2.5 KiB"	direct randwrite 2560 8 320k
	check_of "the server wrote to the client" \
		counter_over nsA sr0 rx_write_requests $((writes + 20))
	check_of "the server read from the client" \
		counter_over nsA sr0 rx_read_requests $((reads + 20))
	[ "$version" != 4.2 ] || of_42
	check_of "umount"			umount_it

	check_of "one packet in a hundred is lost" netem nsA veth0 loss 1%
	check_of "in the other direction, too"	netem nsB veth1 loss 1%
	check_of "mount over that wire"		mount_it "$version"
	check_of "direct write over that wire"	direct write 256k 4 8m
	check_of "direct randwrite over that wire" direct randwrite 4k 16 1m
	check_of "a tree is read over that wire" tree_out
	check_of "umount over that wire"	umount_it
	check_of "the wire is reliable again"	clear_wire
	check_of "both ends have disconnected"	wait_for disconnected

	check_of "mount once more"		mount_it "$version"
	check_of "the client's link is removed and created" link_again
	check_of "the files are still there"	still_there
	check_of "umount at the end"		umount_it
	check_of "both ends have disconnected again" wait_for disconnected
	check_of "the server ends"		server_down
}

# of_42: 4 checks
of_42()
{
	check_of "the server copies a file"	asked COPY copied
	check_of "it allocates space"		asked ALLOCATE allocated
	check_of "it punches a hole"		asked DEALLOCATE punched
	check_of "it finds the hole"		asked SEEK hole
}

# lacking: print why this version cannot be tested here
lacking()
{
	case $version in
	4.2)
		grep -qw nfs42_proc_copy /proc/kallsyms || echo "not in this kernel"
		;;
	3)
		modprobe -q nfsv3 || echo "not in this kernel"
		command -v rpcbind >/dev/null || echo "rpcbind is not installed"
		! ss -Hxl | grep -q rpcbind || echo "another rpcbind is running"
		;;
	esac
}

declare -A checks=([4.1]=26 [4.2]=30 [3]=26) why=()
(($#)) || set -- 4.1 4.2 3
planned=1
for version; do
	why[$version]=$(lacking)
	[ -z "${why[$version]}" ] || checks[$version]=1
	planned=$((planned + checks[$version]))
done
ktap_plan "$planned"
check "two hosts"			hosts_up
for version; do
	if [ -z "${why[$version]}" ]; then
		of_version
	else
		skip "version $version"	"${why[$version]}"
	fi
done
ktap_end
