#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two kernels communicate over virtio-net with several queues, with and without its checksum
# and segmentation offloads.
#
#   A: nsA [sr0] veth0 ==== tap, bridge, tap ==== veth1 [sr1] nsB: B

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)

# On the host: two machines that run this script
if [ -z "${MACHINE:-}" ]; then
	. "$selftests/lib/ktap.sh"
	need qemu-system-x86_64
	[ -w /dev/net/tun ] && ((EUID == 0)) || skip_all "root and /dev/net/tun are required"
	ktap_relay "$selftests/../tools/lab/run" --machines 2 --kernel debian --cpus 2 \
		--queues 2 --timeout 3000 -- selftests/machines/offloads.sh
	ktap_end
fi

. "$selftests/lib/netns.sh"

need rdma ethtool ib_write_bw rping

# queues NS DEV: the device has two of each kind
queues()
{
	[ "$(on "$1" sh -c "ls -d /sys/class/net/$2/queues/* | wc -l")" = 4 ]
}

# offloads on|off
offloads()
{
	local dev end ns

	for end in nsA/veth0 nsB/veth1; do
		ns=${end%/*} dev=${end#*/}
		on "$ns" ethtool -K "$dev" tx "$1" rx "$1" sg "$1" tso "$1" gso "$1" gro "$1" &&
			on "$ns" ethtool -k "$dev" | grep -q "^tx-checksumming: $1" || return
	done
}

data()
{
	program nsA nsB rping -V -S 65000 -C 10 && program nsB nsA rping -V -S 65000 -C 10 &&
		program nsA nsB ib_write_bw -s 65536 -n 50 -q 4 &&
		program nsA nsB ib_send_bw -s 65536 -n 50 &&
		program nsA nsB ibv_ud_pingpong -c -s 1000 -n 10
}

ktap_plan 7
check "two machines"		pair_up
check "two queues on A"		queues nsA veth0
check "two queues on B"		queues nsB veth1
check "offloads off"		offloads off
check "data without them"	data
check "offloads on"		offloads on
check "data with them"		data
ktap_end
