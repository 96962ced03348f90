#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The firewall of a host sees arriving packets, tracks their flow, and may drop them.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB (nft)

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/recipe.sh"

need rdma ib_write_bw nft

# rules STATEMENT...: set the rule of nsB for packets to the RoCE port
rules()
{
	on nsB nft delete table inet fw 2>/dev/null
	on nsB nft -f - <<-EOT
		table inet fw {
			counter known { }
			chain input {
				type filter hook input priority 0;
				udp dport 4791 $*
			}
		}
	EOT
}

# The link is created after the rules: its hook runs before those of conntrack.
link_again()
{
	on nsB rdma link del sr1 && on nsB rdma link add sr1 type "$TYPE" netdev veth1 &&
		wait_for gid_ready nsB sr1
}

known_are_counted()
{
	local n

	n=$(on nsB nft list counter inet fw known |
		awk '$1 == "packets" { print $2 }')
	echo "$n packets of known flows"
	((n > 10))
}

refused()
{
	QP_TIMEOUT=8 retries_run_out pair ib_write_bw -n 5 "$@"
}

# GID index of each address family
gid_of()
{
	local i

	for i in {0..15}; do
		# shellcheck disable=SC2053 # a pattern
		[[ $(on nsA cat "/sys/class/infiniband/sr0/ports/1/gids/$i") == $1 ]] &&
			echo "$i" && return
	done
}

# Only nsA's first addresses are peers; it has a second one of each family.
strangers()
{
	ip -n nsA addr add 10.9.0.3/24 dev veth0 &&
		ip -n nsA addr add fd09::3/64 dev veth0 nodad &&
		wait_for gid_of '*:ffff:0a09:0003' && wait_for gid_of 'fd09:*:0003'
}

# from PATTERN [TIMEOUT]: run traffic from the GID of nsA that matches, to one of its family
from()
{
	local gid_a gid_b pattern=$1 status timeout=${2:-18}

	gid_a=$(gid_index nsA sr0 "$pattern")
	gid_b=$(gid_index nsB sr1 "${pattern/%000?/0002}")
	on nsB bounded ib_write_bw -d sr1 -F -n 5 -u "$timeout" -x "$gid_b" >/dev/null 2>&1 &
	wait_for listening nsB 18515 || return
	on nsA bounded ib_write_bw -d sr0 -F -n 5 -u "$timeout" -x "$gid_a" 10.9.0.2
	status=$?
	wait $!
	return "$status"
}

# only_peers: traffic of addresses on the lists passes, that of others does not
only_peers()
{
	from '*:ffff:0a09:0001' && from 'fd09:*:0001' &&
		retries_run_out from '*:ffff:0a09:0003' 8 && retries_run_out from 'fd09:*:0003' 8
}

strangers_too()
{
	from '*:ffff:0a09:0003' && from 'fd09:*:0003'
}

peers=("PEERS4=10.9.0.1,10.9.0.9" "PEERS6=fd09::1,fd09::9" "DEV=veth1")

ktap_plan $((1 + 2 * 6 + 9))
check "two hosts"				pair_up
for family in "IPv4 *ffff:0a09:*" "IPv6 fd09:*"; do
	read -r name pattern <<<"$family"
	gid=$(gid_of "$pattern")
	check "$name: known flows are counted"	rules 'ct status confirmed counter name known'
	check "$name: a link created later"	link_again
	check "$name: traffic"			pair ib_write_bw -n 200 -x "$gid"
	check "$name: its flow became known"	known_are_counted
	check "$name: a rule drops all packets"	rules drop
	check "$name: no packet is received"	refused -x "$gid"
done
check "no rules"			on nsB nft delete table inet fw
check "addresses of another host"	strangers
check "recipe: firewall"		recipe firewall nsB "${peers[@]}"
check "only peers get through"		only_peers
check "the firewall rules are deleted"	on nsB nft delete table inet roce
check "recipe: ingress"			recipe ingress nsB "${peers[@]}"
check "only peers get through it"	only_peers
check "the ingress rules are deleted"	on nsB nft delete table netdev roce
check "without rules all packets pass"	strangers_too
ktap_end
