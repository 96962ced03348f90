#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A provider opens the devices of its own driver only, whatever their names and descriptions.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB, [rxe0] on a dummy beside sr0
#   and a device of rdma_rxe in the first namespace

. "$(dirname "$0")/../lib/netns.sh"

need rdma ibv_devices ibv_devinfo unshare

dir=/etc/libibverbs.d
said=$(mktemp)
[ -e $dir/rxe.driver ] || skip_all "the provider for rdma_rxe is not installed"

# with PROVIDER... -- COMMAND...: run it where only those are installed
with()
{
	local only

	only=$(mktemp -d)
	while [ "$1" != -- ]; do
		cp "$dir/$1.driver" "$only"
		shift
	done
	shift
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount --bind "$1" "$2"; shift 2; exec "$@"' - \
		"$only" "$dir" "$@"
}

# try PROVIDERS COMMAND: run it on nsA, where only those are installed
try()
{
	on nsA bash -c "$(declare -f with); dir=$dir; with $1 -- $2"
}

link_like_rxe()
{
	ip -n nsA link add dummy7 type dummy && ip -n nsA link set dummy7 up &&
		on nsA rdma link add rxe0 type srnic netdev dummy7
}

opened_by_us()
{
	try "$1" "ibv_devinfo -d rxe0" | grep 'fw_ver:.*1\.0\.0'
}

not_taken_by()
{
	! try "$1" ibv_devices | grep rxe0
}

foreign_link()
{
	ip link set lo up && rdma link add foreign0 type rxe netdev lo &&
		echo srnic-1 >/sys/class/infiniband/foreign0/node_desc
}

# The provider does not match: otherwise libibverbs would report a version mismatch.
not_claimed()
{
	! with srnic -- ibv_devinfo -d foreign0 2>"$said" &&
		! grep srnic "$said"
}

trap 'rdma link del foreign0; pair_down; rm -f "$said"' EXIT

ktap_plan 7
check "two hosts"				pair_up
check "a link named like one of rdma_rxe"	link_like_rxe
check "rdma_rxe's provider ignores it"		not_taken_by rxe
check "srnic's provider opens it"		opened_by_us srnic
check "srnic's provider opens it beside the other"	opened_by_us "rxe srnic"
on nsA rdma link del rxe0
if modprobe -q rdma_rxe; then
	check "a device of rdma_rxe called srnic-1"	foreign_link
	check "srnic's provider ignores it"		not_claimed
	rdma link del foreign0
else
	skip "a device of rdma_rxe called srnic-1"	"no rdma_rxe here"
	skip "srnic's provider ignores it"		"no rdma_rxe here"
fi
ktap_end
