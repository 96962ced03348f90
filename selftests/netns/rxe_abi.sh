#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs run on a link of type srnic_rxe with rdma-core's rxe provider alone.
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB

. "$(dirname "$0")/../lib/stock.sh"

tools=(
	"ib_write_bw -s 65536 -n 100"
	"ib_write_bw -s 64 -n 200 -I 64"
	"ib_write_bw -c UC -s 65536 -n 100"
	"ib_read_bw -s 65536 -n 100"
	"ib_send_bw -s 65536 -n 100 -r 256"
	"ib_send_bw -c UD -s 4096 -n 100 -r 256"
	"ib_send_bw --use-srq -q 4 -s 4096 -n 200 -r 512"
	"ib_atomic_bw -n 200"
	"ib_atomic_bw -A CMP_AND_SWAP -n 200"
	"ib_write_lat -s 8 -n 15"
	"ib_read_lat -s 8 -n 15"
	"ib_send_lat -s 8 -n 15"
	"ib_send_lat -s 8 -n 15 -e"
	"ib_send_lat -c UD -s 8 -n 15"
	"ib_atomic_lat -n 15"
)

need rdma ibv_devinfo ibv_rc_pingpong ib_write_bw rping

no_own_provider()
{
	! grep -qs . "$OUR_DRIVER"
}

is_opened()
{
	! grep '^rdma_rxe ' /proc/modules &&
		on nsA ibv_devinfo -d sr0 | grep 'state:.*ACTIVE'
}

# rping_by ADDRESS
rping_by()
{
	local server

	on nsB bounded cm_program rping -s -a "$1" -C 10 -V &
	server=$!
	wait_for cm_listens nsB "$1" || return
	on nsA bounded cm_program rping -c -a "$1" -C 10 -V && wait "$server"
}

# The rxe provider matches any device with such a name and its ABI version.
own_abi_is_refused()
{
	ip link add rxe0 type dummy && ip link set rxe0 up &&
		rdma link add rxe0 type srnic netdev rxe0 || return
	! ibv_devinfo -d rxe0
	local status=$?

	ip link del rxe0
	return "$status"
}

# No rdma_rxe is needed; if it were loaded and unloaded, these links would be deleted.
modprobe -qr rdma_rxe
ktap_plan $((14 + ${#tools[@]}))
check "our provider is hidden"		no_own_provider
check "two hosts"			pair_up
check "the device is opened without rdma_rxe"	is_opened
for tool in "${tools[@]}"; do
	# shellcheck disable=SC2086 # a tool and its arguments
	check "$tool"			pair $tool
done
check "RC pingpong"			pingpong rc -c -n 30
check "RC pingpong by events"		pingpong rc -c -n 200 -e
check "UC pingpong"			pingpong uc -c -n 30
check "UD pingpong"			pingpong ud -n 30
check "SRQ pingpong"			pingpong srq -c -n 30
check "SRQ pingpong by events"		pingpong srq -c -e -n 200
check "rping over IPv4"			rping_by 10.9.0.2
check "rping over IPv6"			rping_by fd09::2
check "no packet was lost"		counter_is nsB sr1 out_of_seq_request 0
check "no object is left yet"		no_object_is_left
check "a link of type srnic is refused"	own_abi_is_refused
ktap_end
