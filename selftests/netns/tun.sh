#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A link over TUN netdevs, which have no Ethernet header, provides all services except raw
# packets, over IPv4 and IPv6.  rdma_cm is excluded, since the RDMA core permits it over
# TUN for rdma_rxe only.
#
#   nsA [sr0] tun0 ==== a program ==== tun1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma python3 ib_write_bw ibv_ud_pingpong
[ -e /dev/net/tun ] || modprobe -q tun || skip_all "this kernel has no TUN"

hosts()
{
	local tun

	host_new nsA srnic && host_new nsB srnic || return
	exec {wire}< <(exec python3 "${selftests:?}/lib/tun_wire.py" tun nsA tun0 nsB tun1)
	wire_made || return
	ip -n nsA link set tun0 mtu 4200 && ip -n nsB link set tun1 mtu 4200 &&
		host_up nsA tun0 sr0 1 srnic && host_up nsB tun1 sr1 2 srnic &&
		wait_for gid_ready nsA sr0 && wait_for gid_ready nsB sr1 &&
		objects_before=$(objects)
}

# no_frames: raw packets are neither reported as supported nor do they work
no_frames()
{
	local said

	said=$(on nsA ibv_devinfo -v -d sr0)
	grep -E 'max_raw_ethy_qp:[[:space:]]*0$' <<<"$said" &&
		! grep -E 'RAW_IP_CSUM|MANAGED_FLOW' <<<"$said" &&
		on nsA python3 - sr0 <<-'END'
			import errno, sys
			from pyverbs import cq, device, pd, qp
			from pyverbs.enums import IBV_QPT_RAW_PACKET
			from pyverbs.pyverbs_error import PyverbsRDMAError
			context = device.Context(name=sys.argv[1])
			queue = cq.CQ(context, 1)
			init = qp.QPInitAttr(qp_type=IBV_QPT_RAW_PACKET, scq=queue, rcq=queue)
			try:
			    qp.QP(pd.PD(context), init)
			except PyverbsRDMAError as error:
			    sys.exit(error.error_code != errno.EOPNOTSUPP)
			sys.exit("there is a raw packet QP")
		END
}

gone_with_its_netdev()
{
	wait_freed objects_are_back && objects_before='' || return
	exec {wire}<&-
	pkill -f "lib/tun_wire.py tun nsA tun0"
	wait_for no_link
}

# no_link: neither host has a link
no_link()
{
	local links

	links=$(on nsA rdma link show && on nsB rdma link show) && [ -z "$links" ]
}

# bond NAME: create one that accepts TUN devices
bond()
{
	ip -n nsA link add "$1" type bond mode active-backup fail_over_mac active
}

# port_of_a_bond: refused, as the bond then has the type of a TUN, and its deletion would not be
# noticed
port_of_a_bond()
{
	ip -n nsA tuntap add dev tun7 mode tun && bond bond7 &&
		ip -n nsA link set tun7 master bond7 || return
	! on nsA rdma link add srx type srnic netdev tun7 || return
	ip -n nsA link del bond7 && ip -n nsA link del tun7
}

# type_stays: the type of a device with a link cannot change
type_stays()
{
	ip -n nsA tuntap add dev tun8 mode tun && bond bond8 &&
		on nsA rdma link add srx type srnic netdev bond8 || return
	! ip -n nsA link set tun8 master bond8 || return
	ip -n nsA link del bond8 && ip -n nsA link del tun8 &&
		wait_freed objects_are_back
}

ktap_plan 15
check "two hosts"	hosts
for family in "IPv4 *ffff:0a09:*" "IPv6 fd09:*"; do
	read -r name pattern <<<"$family"
	GID_A=$(gid_index nsA sr0 "$pattern")
	GID_B=$(gid_index nsB sr1 "$pattern")
	check "WRITE, $name"	pair ib_write_bw -s 65536 -n 100 -x "$GID_A"
	check "READ, $name"	pair ib_read_bw -s 65536 -n 100 -x "$GID_A"
	check "atomics, $name"	pair ib_atomic_bw -n 100 -x "$GID_A"
	check "UD, $name"	pingpong ud -n 30 -s 1000
	check "UC, $name"	pingpong uc -n 30 -s 10000
done
check "no raw packets"		no_frames
check "refused as a port of a bond"	port_of_a_bond
check "a bond with a link keeps its type"	type_stays
check "removed with its netdev"	gone_with_its_netdev
ktap_end
