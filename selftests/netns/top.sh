#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic-top shows exactly what queue pairs carry, and what limits them, to every user: as JSON, as
# text and in a terminal.
#
#   nsA [sr0] veth0 ===(losses, marks)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need python3 nft tc setpriv ib_write_bw srnic-top
vrb_up

work=$(mktemp -d)
trap 'rm -r "$work"; pair_down' EXIT
name=$'\e[7mx\a\\"\377'		# of the process

# hold: start a process with known queue pairs, whose numbers become the array held
hold()
{
	local line

	# shellcheck disable=SC2154 # of vrb.sh
	ln -s "$vrb_dir/vrb" "$work/$name"
	coproc HOLDER { exec "$work/$name" held; }
	while read -r -t "$KTAP_BOUND" -u "${HOLDER[0]}" line; do
		[[ $line == "# queue pairs: "* ]] || continue
		read -ra held <<<"${line#*: }"
		return
	done
	return 1
}

# let_go: that process ends successfully
let_go()
{
	local input=${HOLDER[1]} pid=$HOLDER_PID

	exec {input}>&-
	wait "$pid"
}

# unread: a reader that does not want all of it is no error
unread()
{
	local said

	said=$({ on nsA srnic-top --once --interval 0.01 | :; } 2>&1)
	echo "$said"
	[ -z "$said" ]
}

# mark: mark all RoCE packets from nsA
mark()
{
	local dev ns

	read -r ns dev < <(wire_end nsA veth0)
	on "$ns" nft "table netdev wire {
		chain $dev {
			type filter hook ingress device $dev priority 0;
			udp dport 4791 ip ecn ect0 ip ecn set ce
		}
	}"
}

check "a process with queue pairs"	hold
ktap_relay /usr/bin/python3 "${0%.sh}.py" held "${held[@]}" "$name"
check "a closed pipe"			unread
check "the process ends"		let_go
check "a flow"				flow_up ib_write_bw -s 65536
check "one packet of fifty is lost"	netem nsA veth0 loss 2%
ktap_relay /usr/bin/python3 "${0%.sh}.py" lost
check "the wire loses nothing"		clear_wire
check "all packets are marked"		mark
ktap_relay /usr/bin/python3 "${0%.sh}.py" marked
flow_down
ktap_end
