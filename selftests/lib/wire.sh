# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the wire between two hosts is cut, and their peer dies; source it after
# netns.sh, and where know_each_other is defined (peers.sh, self.sh)
#
#   wire_cut, wire_joined    veth1 goes down, and up again with what it lost
#   wire_stalled             packets that "drop_nth nsA veth0" drops have been lost
#   peer_dies, peer_returns  sr1 is removed while the wire is cut, and created again
# shellcheck shell=bash

wire_cut()
{
	ip -n nsB link set veth1 down
}

wire_joined()
{
	ip -n nsB link set veth1 up && ip -n nsB addr add fd09::2/64 dev veth1 nodad &&
		know_each_other && wait_for gid_ready nsA sr0 || return
	! on nsB test -e /sys/class/infiniband/sr1 || wait_for gid_ready nsB sr1
}

wire_stalled()
{
	on nsB nft list chain netdev wire veth1 | grep 'packets [1-9]'
}

peer_dies()
{
	wire_cut && on nsB bounded rdma link del sr1
}

peer_returns()
{
	wire_joined && link_add nsB sr1 veth1 "$TYPE_B" &&
		wait_for gid_ready nsB sr1
}
