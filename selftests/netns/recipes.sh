#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The commands in the man page's section on diagnostics print what it says.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/recipe.sh"

need rdma ib_write_bw ibv_srq_pingpong nft jq
# shellcheck disable=SC2154 # netns.sh says where
[ -e "$selftests/../Documentation/srnic.7" ] || skip_all "no man page here"
said=$(mktemp)
trap 'pair_down; rm -f "$said"' EXIT

# shows NAME NS PATTERN...: the commands succeed, and for each pattern there is a line
shows()
{
	local name=$1 ns=$2 dev=sr0 pattern

	[ "$2" = nsA ] || dev=sr1
	shift 2
	man_recipe "$name" "$ns" "s/srnic0/$dev/; s/lqpn 178/lqpn ${lqpn:-}/" >"$said" || return
	cat "$said"
	for pattern; do
		grep -qE -e "$pattern" "$said" || { echo "no '$pattern'"; return 1; }
	done
}

# shows_no NAME NS PATTERN: no line of their output matches
shows_no()
{
	shows "$1" "$2" && ! grep -E -e "$3" "$said"
}

# serve: a server with two queue pairs and a region of 4096 bytes
serve()
{
	ip netns exec nsB ibv_srq_pingpong -d sr1 -g "$(gid_index nsB sr1 '*ffff:0a09:*')" -q 2 &
	server=$!
	wait_for listening nsB 18515
}

quit()
{
	kill "$@"
	wait "$@" 2>/dev/null
	return 0
}

# write_on: start WRITEs from nsA to nsB without end, with retries that last for seconds
write_on()
{
	ip netns exec nsB ib_write_bw -d sr1 -F -D 3600 -u 18 >/dev/null &
	server=$!
	wait_for listening nsB 18515 || return
	ip netns exec nsA ib_write_bw -d sr0 -F -D 3600 -u 18 10.9.0.2 >/dev/null &
	client=$!
	wait_for writes
}

writes()
{
	on nsA rdma resource show qp link sr0/1 | grep 'type RC state RTS' >"$said" &&
		lqpn=$(grep -oE -m 1 'lqpn [0-9]+' "$said" | cut -d' ' -f2) &&
		counter_over nsA sr0 sent_pkts "$((sent + 100))"
}

# drv NAME: print that value of the queue pair
drv()
{
	on nsA rdma -dd resource show qp link sr0/1 type RC | grep -oE "drv_$1 [0-9]+" |
		cut -d' ' -f2
}

# cut_off: cut the wire, and stop the client so that it cannot react to the error
cut_off()
{
	drop_nth nsA veth0 1 1000000000 && wait_for awaits_ack && kill -STOP "$client"
}

awaits_ack()
{
	(($(drv una_psn) != $(drv next_psn)))
}

failed()
{
	shows failed nsA 'state ERR .*drv_failure retries exceeded'
}

# shows_retransmissions: they agree with the counter; a delayed ACK may cause some
shows_retransmissions()
{
	local before shown

	before=$(counter nsA sr0 retrans_pkts)
	shows json nsA '"retrans_pkts": [0-9]' '"rx_drops": 0' || return
	shown=$(grep -oE '"retrans_pkts": [0-9]+' "$said" | cut -d' ' -f2)
	((shown >= before && shown <= $(counter nsA sr0 retrans_pkts)))
}

lqpn='' sent=0
ktap_plan 14
check "two hosts"			pair_up
check "a program with two queue pairs"	serve
check "users of the device"		shows users nsB \
	"type RC state INIT .*pid $server comm ibv_srq_pingpon"
check "its objects and its memory"	shows memory nsB '^[0-9]+: sr1: .*qp 3 ' \
	"mrlen 4096 .*pid $server comm ibv_srq_pingpon"
check "what it waits for: nothing"	shows waiting nsB 'drv_sq_head 0' 'drv_sq_tail 0'
quit "$server"
check "counters for each program"	shows auto nsA
check "WRITEs without end"		write_on
check "counters of the program"		shows programs nsA \
	"link sr0/1 cntn [0-9]+ .*pid $client .*sent_pkts [1-9]"
check "retransmissions"			shows_retransmissions
check "the wire is cut"			cut_off
check "what a queue pair waits for: an acknowledgment" shows waiting nsA \
	'drv_rnr_wait 0' 'drv_una_psn' 'drv_next_psn'
check "it fails, and why"		wait_for failed
kill -CONT "$client"
quit "$server" "$client"
clear_wire
check "no more counters for each program" shows_no off nsA .
sent=$(counter nsA sr0 sent_pkts)
write_on
check "counters of a single queue pair"	shows bind nsA "LQPN: <$lqpn>"
quit "$server" "$client"
ktap_end
