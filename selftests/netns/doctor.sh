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

# examine NS PEER [SETUP]: run srnic-doctor on a host; what SETUP mounts is gone afterwards.
# It would see no cgroups without that mount.
examine()
{
	# shellcheck disable=SC2016 # for that shell
	on "$1" sh -c 'mount -t cgroup2 none /sys/fs/cgroup || exit
		eval "$2"
		exec $as srnic-doctor --wait 20 $1' sh "$2" "${3:-}" >"$said" 2>&1
}

# healthy [SETUP]: every line of the report is ok
healthy()
{
	local status

	examine nsA "${peer:-10.9.0.2}" "$@" && ! grep -v '^ok ' "$said" && grep -q ' firewall ' "$said"
	status=$?
	cat "$said"
	return "$status"
}

# names CHECK TEXT [SETUP]: one line of the report says BAD, that of CHECK, with that TEXT
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

# as_proposed NS: run the command that the last report proposes, on that host
as_proposed()
{
	local command

	command=$(sed -n 's/^ *-> //p' "$said")
	echo "$command"
	on "$1" sh -c "$command"
}

# --- faults, and their repair ----------------------------------------------------------

settled()
{
	! ip -n nsA addr show | grep -q tentative && ! ip -n nsB addr show | grep -q tentative &&
		gid_ready nsA sr0 && gid_ready nsB sr1
}

# addresses NS NUMBER DEV: restore them after the link was down or they were deleted
addresses()
{
	ip -n "$1" addr replace "10.9.0.$2/24" dev "$3" &&
		ip -n "$1" addr replace "fd09::$2/64" dev "$3" nodad && wait_for settled
}

# renamed NETDEV NAME: rename a netdev of nsA and restore its addresses
renamed()
{
	ip -n nsA link set "$1" down && ip -n nsA link set "$1" name "$2" &&
		ip -n nsA link set "$2" up && addresses nsA 1 "$2"
}

# drop NS HOOK: drop RoCE packets there
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

# tentative: add an address that stays tentative for long
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

# link_again NS DEV NETDEV TYPE: replace the link DEV, if there is one
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

check "two connected hosts are created"			pair_up
check "the connection manager is loaded"		modprobe rdma_ucm
check "the addresses of both hosts are ready"		wait_for settled
check "healthy hosts pass all checks"			healthy
peer=fd09::2 check "healthy hosts pass by IPv6"		healthy
peer='' check "a healthy host passes without a peer"	examine nsA ""
as="setpriv --bounding-set -all --inh-caps -all" \
	check "without privileges, ping is reported as not permitted" \
	remarks ping "not permitted"

check "the netdev is set down"			ip -n nsA link set veth0 down
check "the report names the netdev that is down"	names link "veth0 is down"
check "the proposed command succeeds"		as_proposed nsA
check "the addresses are restored"		addresses nsA 1 veth0
check "the netdev loses its carrier"		ip -n nsB link set veth1 down
check "the report names the missing carrier"	names link "no carrier"
check "the netdev of the peer is set up"	ip -n nsB link set veth1 up
check "the addresses of the peer are restored"	addresses nsB 2 veth1
check "the hosts with carrier pass"		healthy

check "the IP addresses are deleted"		ip -n nsA addr flush dev veth0 scope global
check "the report says that there is no IP address"	names addresses "no IP address"
check "the deleted addresses are restored"	addresses nsA 1 veth0
check "an address of the peer is added"		duplicate
check "the report names the duplicate address"	names addresses "fd09::2 is a duplicate"
check "the command proposed for a duplicate succeeds"	as_proposed nsA
check "an address stays tentative"		tentative
check "the report names the tentative address"	names addresses "fd09::11 is tentative"
check "the tentative address is deleted"	ip -n nsA addr del fd09::11/64 dev veth0
check "the hosts with their own addresses pass"	healthy

check "the MTU of the peer is lowered"		ip -n nsB link set veth1 mtu 1500
check "the report names the path MTU"		names "path mtu" "4096 do not arrive, those of 1024 do"
check "the command proposed for the MTU succeeds"	as_proposed nsA
check "the addresses are ready with the new MTU"	wait_for settled
check "hosts with the same low MTU pass"	healthy
check "the MTU of both hosts is restored"	mtu_both 4200

for hook in output:out input:in; do
	way=${hook#*:} hook=${hook%:*}
	check "the firewall drops packets on the way $way"	drop nsA "$hook"
	check "the report names the firewall on the way $way" \
		names firewall "this host drops .* on the way $way"
	check "the command proposed for the way $way succeeds"	as_proposed nsA
	check "the hosts pass despite the firewall on the way $way"	healthy
	check "the firewall on the way $way is removed"		open_again nsA
	check "the peer's firewall drops packets on the way $way"	drop nsB "$hook"
	check "the report says that the peer does not answer ($way)" \
		names firewall "no answer from 10.9.0.2"
	host=nsB peer=10.9.0.1 \
		check "the peer's report names its firewall on the way $way" \
		names firewall "this host drops .* on the way $way"
	check "the command proposed to the peer succeeds ($way)"	as_proposed nsB
	check "the hosts pass despite the peer's firewall ($way)"	healthy
	check "the peer's firewall on the way $way is removed"		open_again nsB
done

check "the firewall drops packets for a renamed netdev"	drop nsA input
check "a netdev gets a name that is no UTF-8"		renamed veth0 $'v\377'
check "the report on that netdev names the firewall" \
	names firewall "this host drops .* on the way in"
check "the netdev gets its former name"			renamed $'v\377' veth0
check "the firewall for the renamed netdev is removed"	open_again nsA

check "a table whose name is an nft command drops packets"	odd_table
check "the report names the firewall of that table" \
	names firewall "this host drops .* on the way in"
check "the command proposed for that table succeeds"	as_proposed nsA
check "the hosts pass despite that table"		healthy
check "the proposed command leaves that table in place"	odd_table_stays
check "that table is removed"				on nsA nft flush ruleset

peer=$(link_local nsB veth1)%veth0 \
	check "healthy hosts pass by a link-local address"	healthy
check "the firewall drops packets to a link-local address"	drop nsA input
peer=$(link_local nsB veth1)%veth0 \
	check "the report on that address names the firewall" \
	names firewall "this host drops .* on the way in"
check "the firewall for that address is removed"	open_again nsA
peer=$(link_local nsB veth1) \
	check "a link-local address without a netdev is reported" \
	names route "name the network device"

check "the RDMA device of the peer is deleted"		on nsB rdma link del sr1
check "the report says that the peer refuses the port" \
	names firewall "10.9.0.2 refuses UDP port 4791"
check "the RDMA device of the peer is restored"		link_again nsB sr1 veth1 "$TYPE"
peer=10.9.0.77 check "an address without a host is reported" \
	names neighbour "10.9.0.77 does not answer ARP"
peer=192.0.2.1 check "an address without a route is reported" \
	names route "no route to 192.0.2.1"
peer=nowhere.invalid check "a name without an address is reported" \
	names route "nowhere.invalid has no address"

check "healthy hosts pass in a container without modules"	healthy "$no_modules"
check "a missing driver file is reported"	names provider "srnic.driver is missing" "$no_driver"
check "a missing provider is reported"		names provider "so is missing" "$providers; rm \$file"
check "a provider for another private ABI is reported" \
	names provider "and the provider is libsrnic-rdmav99.so" \
	"$providers; mv \$file libsrnic-rdmav99.so"
check "a provider that does not accept the ABI is reported" \
	names provider "does not accept ABI" \
	"$providers; cp librxe-rdmav*.so \$file"
as="setpriv $no_lock" check "a limit of 64 KiB of pinned memory is a fault" \
	names memlock "only 64 KiB" "ulimit -l 64"
as="setpriv $no_lock" check "the usual limit of pinned memory is a hint" \
	remarks memlock "only 8 MiB" "ulimit -l 8192"
check "an exhausted limit of the cgroup is reported"	names cgroup "used up its hca_object, 0" "$cgroup"
check "the answers of the peer are delayed"	on nsB tc qdisc add dev veth1 root netem delay 300ms
check "a late answer is reported without access to rdma_cm" \
	remarks firewall "10.9.0.2 answers, but" "$no_rdma_cm"
check "the delay is removed"			on nsB tc qdisc del dev veth1 root
check "ECN is switched off"			setting nsA sr0 ecn 0
check "the report hints that ECN is off"	remarks ecn "ecn is off"
check "ECN is switched on"			setting nsA sr0 ecn 1
check "the hosts pass with ECN"			healthy

check "the link is replaced by one of type srnic_rxe"	link_again nsA sr0 veth0 srnic_rxe
check "a host with a link of type srnic_rxe passes"	healthy
check "the only RDMA device is deleted"			on nsA rdma link del sr0
check "the report says that there is no RDMA device"	names devices "no RDMA device"
pair_down
check "a host is connected to a peer with rdma_rxe"	eval 'TYPE_B=rxe pair_up && wait_for settled'
check "a host with such a peer passes"			healthy
pair_down
ip netns add nsA
check "the module is unloaded"				wait_freed modprobe -r srnic
check "the report says that the module is not loaded"	names module "srnic is not loaded"
check "the command proposed for the module succeeds"	as_proposed nsA
check "the module is unloaded again"			wait_freed modprobe -r srnic
check "the report says that the kernel has no modules"	names kernel "no modules for kernel" "$no_modules"
ip netns del nsA
ktap_end
