#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk of RNBD returns the data written to it, on a reliable wire and on one that loses
# packets: data and answers are WRITEs with immediate data, to buffers that have a new key for
# each request.  The client connects again after the wire was cut and after the server's device
# was gone.
#
#   client [sr0] veth0 ================ veth1 [sr1] server with a disk in memory
#
# Both are in the initial namespace, the only one that RTRS knows.
#
# run: RNBD, client and server | linux
#   | modules rnbd-client and rnbd-server, which Debian's kernels lack; the initial network
#   namespace
#   | ``echo sessname=NAME path=ip:10.9.0.1@ip:10.9.0.2 device_path=dev/sdb
#   >/sys/devices/virtual/rnbd-client/ctl/map_device``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/rnbd.sh"

rnbd_needed

# path_is STATE
path_is()
{
	# shellcheck disable=SC2154 # of lib/rnbd.sh
	grep -x "$1" "/sys/class/rtrs-client/srnic/paths/$path/state"
}

# disk_is STATE: the server has the disk open, or not
disk_is()
{
	local name

	name=$(remote) && grep -x "$1" "/sys/block/${name##*/}/rnbd/state"
}

# outlasts BREAK MEND: what was requested from a path that breaks fails if there is no other
outlasts()
{
	load_begins "$(remote)" && "$1" && wait_for path_is disconnected && "$2" &&
		wait_for path_is connected && wait_for disk_is open || return
	load_ends || true
}

all_down()
{
	modprobe -r rnbd-client
	server_down
	self_down
	disk_down
} >/dev/null 2>&1

trap all_down EXIT

# shellcheck disable=SC2154 # of disk.sh
ktap_plan $((${#disk_jobs[@]} + 33))
check "two devices and a wire"		self_up
check "a disk in memory"		disk_up
check "a server"			server_up
check "map"				map
disk_checks
check "the client's bytes crossed"	crossed nsB sr1 20000000
check "the server's bytes crossed"	crossed nsA sr0 20000000
check_srnic "the client wrote to the server"	counter_over nsB sr1 rx_write_requests 1000
check_srnic "the server wrote to the client"	counter_over nsA sr0 rx_write_requests 1000
check_srnic "no request used loopback"	counter_is nsA sr0 local_requests 0

check "data that are kept"		data_in "$(remote)"
check "the wire is cut"			outlasts wire_cut wire_joined
check "the data are the same"		data_same "$(remote)"
check "write 64k on the new path"	fio_remote write 64k 8 8m
check "the server's device is gone"	outlasts peer_dies peer_returns
check "the data are the same again"	data_same "$(remote)"
check "randwrite 4k on the new path"	fio_remote randwrite 4k 32 2m

before=$(counter nsA sr0 retrans_pkts)
check "one packet in a hundred is lost"	netem nsA veth0 loss 1%
check "in the other direction, too"	netem nsB veth1 loss 1%
check "write 64k over that wire"	fio_remote write 64k 8 8m
check "randwrite 4k over that wire"	fio_remote randwrite 4k 32 2m
check "unmap over that wire"		unmap
check "map over that wire"		map
check "the data are the same there"	data_same "$(remote)"
check_srnic "packets were sent again"	counter_over nsA sr0 retrans_pkts "$before"
check "unmap"				unmap
check "the wire loses nothing again"	clear_wire

check "the server is unloaded"		server_down
check "one that keeps its keys"		server_up always_invalidate=N
check "map its disk"			map
check "randrw 8k on it"			fio_remote randrw 8k 16 2m
check "the data are the same on it"	data_same "$(remote)"
check "unmap its disk"			unmap
check "client and server are unloaded"	modprobe -r rnbd-client rnbd-server
ktap_end
