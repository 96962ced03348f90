#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Files on SMB Direct have the contents that were written, on a reliable wire and on one that
# loses packets: the server reads from the client's memory and writes to it.  The client connects
# again after the wire was cut and after a device of one of them was gone, and no request fails.
#
#   client [sr0] veth0 ================ veth1 [sr1] server of a folder in memory
#
# Both are in the initial namespace, the only one in which the server accepts connections.
#
# run: SMB Direct, client and server | linux cifs-utils ksmbd-tools
#   | modules cifs with CIFS_SMB_DIRECT, and ksmbd with SMB_SERVER_SMBDIRECT; for the server the
#   initial network namespace; ``hard`` if requests are to wait for a lost server
#   | ``mount -t cifs -o rdma,user=NAME //10.9.0.2/SHARE /mnt``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"

need rdma mount.cifs ksmbd.mountd ksmbd.adduser fio tc ethtool ss
modprobe -q cifs || skip_all "no cifs"
[ -e /proc/fs/cifs/rdma_readwrite_threshold ] || skip_all "cifs has no SMB Direct"
! grep -q '^ksmbd ' /proc/modules || skip_all "ksmbd is in use here"
modprobe -q ksmbd || skip_all "no ksmbd"

dir=$(mktemp -d)
srv=$dir/srv mnt=$dir/mnt
daemon=	# process ID of ksmbd.mountd
load=	# process ID
mkdir "$srv" "$mnt"

server_up()
{
	mount -t tmpfs srv "$srv" && cat >"$dir/conf" <<-EOT || return
		[global]
		interfaces = veth1
		[srv]
		path = $srv
		writeable = yes
		store dos attributes = no
	EOT
	: >"$dir/users"
	ksmbd.adduser -c "$dir/conf" -i "$dir/users" -a root -p secret || return
	ksmbd.mountd -c "$dir/conf" -u "$dir/users" -n &
	daemon=$!
	wait_for cm_id_listens
}

# cm_id_listens: the kernel, for SMB
cm_id_listens()
{
	rdma res show cm_id | grep '^link sr1/.* state LISTEN .*:445'
}

server_down()
{
	kill "$daemon" && wait "$daemon"
	daemon=
	echo hard >/sys/class/ksmbd-control/kill_server
	wait_freed modprobe -r ksmbd
}

mount_it()
{
	bounded mount -t cifs \
		-o rdma,vers=3.1.1,user=root,password=secret,hard,echo_interval=1 \
		//10.9.0.2/srv "$mnt"
}

umount_it()
{
	bounded umount "$mnt"
}

# connected: the client's state, and no socket of TCP
connected()
{
	grep 'SMBDirect.* status: CONNECTED' /proc/fs/cifs/DebugData
}

no_tcp()
{
	! ss -Htna state connected '( sport = :445 or dport = :445 )' | grep .
}

drop_caches()
{
	sync && echo 3 >/proc/sys/vm/drop_caches
}

# large FILE: 32 MiB, with an odd end, compared at the server, then at the client
large()
{
	head -c 33554433 /dev/urandom >"$dir/data" &&
		bounded cp "$dir/data" "$mnt/$1" && drop_caches &&
		cmp "$dir/data" "$srv/$1" && bounded cmp "$dir/data" "$mnt/$1"
}

# tree NAME: files of all sizes, compared at both ends
tree()
{
	bounded cp -r "$selftests/lib" "$mnt/$1" && drop_caches &&
		diff -r "$selftests/lib" "$srv/$1" &&
		bounded diff -r "$selftests/lib" "$mnt/$1"
}

# fio_on FILE KIND SIZE DEPTH TOTAL: without the page cache
fio_on()
{
	bounded fio --name=srnic --filename="$mnt/$1" --rw="$2" --bs="$3" \
		--iodepth="$4" --size="$5" --ioengine=libaio --direct=1 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0
}

# the load: a file written and compared until the end, one request at a time
load_goes_on()
{
	while [ -e "$dir/load" ]; do
		fio_on load randwrite 64k 1 4m || return
	done
}

load_ends()
{
	rm "$dir/load"
	wait "$load"
}

flows()
{
	local before

	before=$(counter nsB sr1 rcvd_pkts) && wait_for counter_over nsB sr1 rcvd_pkts \
		$((before + 1000))
}

# outlasts BREAK MEND
outlasts()
{
	touch "$dir/load"
	load_goes_on &
	load=$!
	flows && "$1" && wait_for fails connected && "$2" &&
		wait_for connected && flows && load_ends
}

# client_dies, client_returns: as peer_dies, without a cut
client_dies()
{
	bounded rdma link del sr0
}

client_returns()
{
	link_add nsA sr0 veth0 "$TYPE_A" && wait_for gid_ready nsA sr0
}

all_down()
{
	load_ends
	umount -f "$mnt"
	server_down
	umount "$srv"
	modprobe -r cifs
	self_down
	rm -r "$dir"
} >/dev/null 2>&1

trap all_down EXIT

ktap_plan 31
check "two devices and a wire"		self_up
check "a server"			server_up
check "mount"				mount_it
check "the client uses SMB Direct"	connected
check "a large file"			large large
check "a tree"				tree tree
check "direct write of 1 MiB"		fio_on file write 1m 4 16m
check "direct randwrite of 4 KiB"	fio_on file randwrite 4k 16 1m
check "direct randwrite of 2.5 KiB"	fio_on file randwrite 2560 8 320k
check "direct randrw of 64 KiB"		fio_on file randrw 64k 8 8m
check "the client's bytes crossed"	crossed nsB sr1 50000000
check "the server's bytes crossed"	crossed nsA sr0 50000000
check_srnic "the server wrote to the client"	counter_over nsA sr0 rx_write_requests 50
check_srnic "the server read from the client"	counter_over nsA sr0 rx_read_requests 50
check_srnic "no request used loopback"	counter_is nsA sr0 local_requests 0
check "there is no connection of TCP"	no_tcp

check "the wire is cut"			outlasts wire_cut wire_joined
check "the server's device is gone"	outlasts peer_dies peer_returns
check "the client's device is gone"	outlasts client_dies client_returns
check "a large file after that"		large again

before=$(counter nsA sr0 retrans_pkts)
check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
check "in the other direction, too"	netem nsB veth1 loss 1%
check "a large file over that wire"	large lossy
check "randwrite 4k over that wire"	fio_on file randwrite 4k 16 1m
check "umount over that wire"		umount_it
check "mount over that wire"		mount_it
check "a tree over that wire"		tree lossy_tree
check_srnic "packets were sent again"	counter_over nsA sr0 retrans_pkts "$before"
check "the wire loses nothing again"	clear_wire

check "umount at the end"		umount_it
check "the server ends"			server_down
ktap_end
