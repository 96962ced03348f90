#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic-doctor finds no fault in two healthy hosts; if there is one fault it reports that and
# no other, and after the repair, often by the command it prints, none.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#   srnic-doctor

. "$(dirname "$0")/../lib/netns.sh"

need rdma nft tc python3 setpriv srnic-doctor

said=$(mktemp)
group=/sys/fs/cgroup/srnic-doctor
trap 'rm -f "$said"; rmdir "$group" 2>/dev/null; pair_down' EXIT

# examine NS PEER [SETUP]: run it on a host; what SETUP mounts is gone afterwards.  It
# would see no cgroups without that mount.
examine()
{
	# shellcheck disable=SC2016 # for that shell
	on "$1" sh -c 'mount -t cgroup2 none /sys/fs/cgroup || exit
		eval "$2"
		exec $as srnic-doctor --wait 20 $1' sh "$2" "${3:-}" >"$said" 2>&1
}

# healthy [SETUP]: every line is ok
healthy()
{
	local status

	examine nsA "${peer:-10.9.0.2}" "$@" && ! grep -v '^ok ' "$said" && grep -q ' firewall ' "$said"
	status=$?
	cat "$said"
	return "$status"
}

# names CHECK TEXT [SETUP]: one line says BAD, that of CHECK, with that TEXT
names()
{
	local status

	examine "${host:-nsA}" "${peer:-10.9.0.2}" "${3:-}"
	status=$?
	cat "$said"
	[ "$status" = 1 ] && [ "$(grep -c ^BAD "$said")" = 1 ] &&
		grep -q "^BAD .* $1 .*$2" "$said"
}

# remarks CHECK TEXT [SETUP]: nothing is bad, and the line of CHECK has that TEXT
remarks()
{
	local status

	examine nsA "${peer:-10.9.0.2}" "${3:-}"
	status=$?
	cat "$said"
	[ "$status" = 0 ] && grep -Eq "^(hint|\?) .* $1 .*$2" "$said"
}

# as_told NS: run the command of the last examination there
as_told()
{
	local command

	command=$(sed -n 's/^ *-> //p' "$said")
	echo "$command"
	on "$1" sh -c "$command"
}

# --- what is broken, and repaired ----------------------------------------------------------

settled()
{
	! ip -n nsA addr show | grep -q tentative && ! ip -n nsB addr show | grep -q tentative &&
		gid_ready nsA sr0 && gid_ready nsB sr1
}

# addresses NS NUMBER DEV: again, after the link was down or they were deleted
addresses()
{
	ip -n "$1" addr replace "10.9.0.$2/24" dev "$3" &&
		ip -n "$1" addr replace "fd09::$2/64" dev "$3" nodad && wait_for settled
}

# renamed NETDEV NAME: on nsA
renamed()
{
	ip -n nsA link set "$1" down && ip -n nsA link set "$1" name "$2" &&
		ip -n nsA link set "$2" up && addresses nsA 1 "$2"
}

# drop NS HOOK
drop()
{
	on "$1" nft "table inet fw {
		chain c {
			type filter hook $2 priority 0;
			udp dport 4791 drop
		}
	}"
}

open_again()
{
	on "$1" nft delete table inet fw
}

# link_local NS DEV: print its address
link_local()
{
	ip -n "$1" -o -6 addr show dev "$2" scope link | awk '{ sub("/.*", "", $4); print $4 }'
}

# odd_table: drop, in a table with a name that is a command for nft
odd_table()
{
	local place='"family": "inet", "table": "x; flush ruleset"' port

	port='{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}},
		"right": 4791}}'
	on nsA nft -j "{\"nftables\": [
		{\"add\": {\"table\": {\"family\": \"inet\", \"name\": \"x; flush ruleset\"}}},
		{\"add\": {\"chain\": {$place, \"name\": \"c\", \"type\": \"filter\",
			\"hook\": \"input\", \"prio\": 0}}},
		{\"add\": {\"rule\": {$place, \"chain\": \"c\", \"expr\": [$port, {\"drop\": null}]}}}]}"
}

odd_table_stays()
{
	on nsA nft -j list ruleset | grep -q 'x; flush ruleset'
}

duplicate()
{
	ip -n nsA addr add fd09::2/64 dev veth0 &&
		wait_for sh -c "ip -n nsA addr show dev veth0 | grep -q dadfailed"
}

# tentative: for long
tentative()
{
	on nsA sysctl -qw net.ipv6.conf.veth0.dad_transmits=100000 &&
		ip -n nsA addr add fd09::11/64 dev veth0
}

mtu_both()
{
	ip -n nsA link set veth0 mtu "$1" && ip -n nsB link set veth1 mtu "$1" &&
		wait_for settled
}

# link_again NS DEV NETDEV TYPE
link_again()
{
	on "$1" rdma link del "$2" 2>/dev/null
	on "$1" rdma link add "$2" type "$4" netdev "$3" && wait_for settled
}

# The setups below change mounts, limits or the cgroup of the process alone.
# shellcheck disable=SC2016 # for the shell that examines
no_driver='mount -t tmpfs none /etc/libibverbs.d'
# shellcheck disable=SC2016
providers='folder=$(ls -d /usr/lib/*/libibverbs /usr/lib64/libibverbs | head -n 1)
	copy=$(mktemp -d) && mount -t tmpfs none "$copy" && cp "$folder"/*.so "$copy" &&
	mount --bind "$copy" "$folder" && cd "$folder" && file=$(echo libsrnic-rdmav*.so)'
# shellcheck disable=SC2016
cgroup='cd /sys/fs/cgroup && echo +rdma >cgroup.subtree_control && mkdir -p srnic-doctor &&
	cd srnic-doctor && echo "sr0 hca_object=0" >rdma.max && echo $$ >cgroup.procs; cd /'
no_rdma_cm='cm=/dev/infiniband/rdma_cm
	mount --bind $cm $cm && mount -o remount,bind,nodev $cm'
no_modules='mount -t tmpfs none /lib/modules'
no_lock="--bounding-set -ipc_lock --inh-caps -ipc_lock"

check "two hosts"			pair_up
check "the connection manager"		modprobe rdma_ucm
check "their addresses"			wait_for settled
check "healthy"				healthy
peer=fd09::2 check "healthy by IPv6"	healthy
peer='' check "healthy without a peer"	examine nsA ""
as="setpriv --bounding-set -all --inh-caps -all" \
	check "without privileges"	remarks ping "not permitted"

check "break: netdev down"		ip -n nsA link set veth0 down
check "it is named"			names link "veth0 is down"
check "as told"				as_told nsA
check "addresses again"			addresses nsA 1 veth0
check "break: no carrier"		ip -n nsB link set veth1 down
check "it is named"			names link "no carrier"
check "repair"				ip -n nsB link set veth1 up
check "addresses again"			addresses nsB 2 veth1
check "healthy"				healthy

check "break: no address"		ip -n nsA addr flush dev veth0 scope global
check "it is named"			names addresses "no IP address"
check "addresses again"			addresses nsA 1 veth0
check "break: a duplicate address"	duplicate
check "it is named"			names addresses "fd09::2 is a duplicate"
check "as told"				as_told nsA
check "break: a tentative address"	tentative
check "it is named"			names addresses "fd09::11 is tentative"
check "repair"				ip -n nsA addr del fd09::11/64 dev veth0
check "healthy"				healthy

check "break: MTU of the peer"		ip -n nsB link set veth1 mtu 1500
check "it is named"			names "path mtu" "4096 do not arrive, those of 1024 do"
check "as told"				as_told nsA
check "addresses again"			wait_for settled
check "healthy"				healthy
check "repair"				mtu_both 4200

for hook in output:out input:in; do
	way=${hook#*:} hook=${hook%:*}
	check "break: firewall $way"		drop nsA "$hook"
	check "it is named"			names firewall "this host drops .* on the way $way"
	check "as told"				as_told nsA
	check "healthy"				healthy
	check "repair"				open_again nsA
	check "break: the peer's firewall $way"	drop nsB "$hook"
	check "it is named"			names firewall "no answer from 10.9.0.2"
	host=nsB peer=10.9.0.1 \
		check "it is named there"	names firewall "this host drops .* on the way $way"
	check "as told there"			as_told nsB
	check "healthy"				healthy
	check "repair"				open_again nsB
done

check "break: firewall in"		drop nsA input
check "a netdev whose name is no UTF-8"	renamed veth0 $'v\377'
check "it is named"			names firewall "this host drops .* on the way in"
check "repair"				renamed $'v\377' veth0
check "repair"				open_again nsA

check "break: firewall in, an odd name"	odd_table
check "it is named"			names firewall "this host drops .* on the way in"
check "as told"				as_told nsA
check "healthy"				healthy
check "the table is still there"	odd_table_stays
check "repair"				on nsA nft flush ruleset

peer=$(link_local nsB veth1)%veth0 \
	check "healthy by a link-local address"	healthy
check "break: firewall in"		drop nsA input
peer=$(link_local nsB veth1)%veth0 \
	check "it is named for that, too"	names firewall "this host drops .* on the way in"
check "repair"				open_again nsA
peer=$(link_local nsB veth1) \
	check "without the network device"	names route "name the network device"

check "break: no device there"		on nsB rdma link del sr1
check "it is named"			names firewall "10.9.0.2 refuses UDP port 4791"
check "repair"				link_again nsB sr1 veth1 "$TYPE"
peer=10.9.0.77 check "no such host"	names neighbour "10.9.0.77 does not answer ARP"
peer=192.0.2.1 check "no route"		names route "no route to 192.0.2.1"
peer=nowhere.invalid check "no name"	names route "nowhere.invalid has no address"

check "healthy, as in a container"	healthy "$no_modules"
check "no file for the provider"	names provider "srnic.driver is missing" "$no_driver"
check "no provider"			names provider "so is missing" "$providers; rm \$file"
check "a provider for another PABI"	names provider "and the provider is libsrnic-rdmav99.so" \
	"$providers; mv \$file libsrnic-rdmav99.so"
check "a provider for another ABI"	names provider "does not accept ABI" \
	"$providers; cp librxe-rdmav*.so \$file"
as="setpriv $no_lock" check "little memory may be registered" \
	names memlock "only 64 KiB" "ulimit -l 64"
as="setpriv $no_lock" check "as much as usual" \
	remarks memlock "only 8 MiB" "ulimit -l 8192"
check "a limit of the cgroup"		names cgroup "used up its hca_object, 0" "$cgroup"
check "a peer that takes its time"	on nsB tc qdisc add dev veth1 root netem delay 300ms
check "no access to rdma_cm"		remarks firewall "10.9.0.2 answers, but" "$no_rdma_cm"
check "at once again"			on nsB tc qdisc del dev veth1 root
check "break: no ECN"			setting nsA sr0 ecn 0
check "it is named"			remarks ecn "ecn is off"
check "repair"				setting nsA sr0 ecn 1
check "healthy"				healthy

check "links of type srnic_rxe"		link_again nsA sr0 veth0 srnic_rxe
check "healthy"				healthy
check "break: no device"		on nsA rdma link del sr0
check "it is named"			names devices "no RDMA device"
pair_down
check "a peer with rdma_rxe"		eval 'TYPE_B=rxe pair_up && wait_for settled'
check "healthy"				healthy
pair_down
ip netns add nsA
check "break: no module"		wait_freed modprobe -r srnic
check "it is named"			names module "srnic is not loaded"
check "as told"				as_told nsA
check "break: no module"		wait_freed modprobe -r srnic
check "nor any other"			names kernel "no modules for kernel" "$no_modules"
ip netns del nsA
ktap_end
