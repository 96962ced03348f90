#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The firewall of a host sees what arrives, knows its flow, and may refuse it.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB (nft)

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw nft

# rules STATEMENT...: what nsB does with what comes to the RoCE port
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

# The link is younger than the rules: its hook comes before those of conntrack.
link_again()
{
	on nsB rdma link del sr1 && on nsB rdma link add sr1 type "$TYPE" netdev veth1 &&
		wait_for 10 gid_ready nsB sr1
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
	! pair ib_write_bw -n 5 -u 8 "$@"
}

# the GID of each family, as perftest counts them
gid_of()
{
	local i

	for i in {0..15}; do
		# shellcheck disable=SC2053 # a pattern
		[[ $(on nsA cat "/sys/class/infiniband/sr0/ports/1/gids/$i") == $1 ]] &&
			echo "$i" && return
	done
}

ktap_plan $((1 + 2 * 6))
check "two hosts"				pair_up
for family in "IPv4 *ffff:0a09:*" "IPv6 fd09:*"; do
	read -r name pattern <<<"$family"
	gid=$(gid_of "$pattern")
	check "$name: known flows are counted"	rules 'ct status confirmed counter name known'
	check "$name: a younger link"		link_again
	check "$name: traffic"			pair ib_write_bw -n 200 -x "$gid"
	check "$name: its flow became known"	known_are_counted
	check "$name: nothing may come in"	rules drop
	check "$name: and nothing does"		refused -x "$gid"
done
ktap_end
