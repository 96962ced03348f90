#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The device sends what the specification requires, rule by rule.
#
#   nsA [sr0] veth0 ================ veth1 nsB
#                                   (drill)
#
# Each file *.drill below this folder tests one rule; README describes the syntax.  The
# program is the peer: veth1 has neither an RDMA device nor an address.  With TYPE=rxe the
# kernel's soft RoCE is tested, as a check of the scripts; rxe-known lists where it differs,
# and why.
# usage: drill.sh [SCRIPT...]

# shellcheck disable=SC2154 # set by lib/drill.sh
. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/drill.sh"

need rdma gcc make ethtool
cd "$drill_dir" || exit

mac_in()
{
	on "$1" cat "/sys/class/net/$2/address"
}

# wire_up: create a device and a wire whose other end sends no packets of its own
wire_up()
{
	local addr mac

	pair_down
	host_new nsA "$TYPE" && ip netns add nsB || return
	ip link add veth0 mtu 4200 netns nsA type veth \
		peer name veth1 mtu 4200 netns nsB || return
	on nsB sysctl -qw net.ipv6.conf.veth1.disable_ipv6=1
	ip -n nsB link set veth1 up
	host_up nsA veth0 sr0 1 "$TYPE" || return
	on nsA ethtool -K veth0 tx-gso-list off tx-udp-segmentation off >/dev/null
	mac=$(mac_in nsB veth1) || return
	for addr in 10.9.0.2 fd09::2; do
		ip -n nsA neigh replace "$addr" lladdr "$mac" dev veth0 || return
	done
	wait_for gid_ready nsA sr0 || return
	objects_before=$(objects)
}

drill_make
modprobe -q ib_cm	# answers on QP1
scripts=("$@")
known=()
if [ "$TYPE" = srnic ]; then
	(($#)) || mapfile -t scripts < <(drill_scripts)
else
	(($#)) || mapfile -t scripts < <(drill_scripts | grep -vE '^(srnic|why)/')
	known=(-k "$TYPE-known")
fi

ktap_plan $((1 + ${#scripts[@]}))
check "a device and a wire"	wire_up
ktap_relay "$drill" "${known[@]}" "${scripts[@]}"
ktap_end
