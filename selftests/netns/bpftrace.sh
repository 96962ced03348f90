#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The bpftrace scripts count what the driver counts.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/trace.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need bpftrace ib_write_bw nft ethtool
[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
trace_can || skip_all "this kernel traces no events"
need_python scapy.contrib.roce
tools=$(shared bpftrace) || skip_all "no scripts"
vrb_up

work=$(mktemp -d)
trap 'pair_down; rm -rf "$work"' EXIT
mkfifo "$work/end"
# bpftrace starts the command when all probes are attached, and exits with it.
cat >"$work/hold" <<-EOT
	touch "$work/attached"
	read -r _ <"$work/end"
EOT
declare -A before

attached()
{
	[ -e "$work/attached" ] || ! kill -0 "$tracer" 2>/dev/null
}

# traced SCRIPT COMMAND...: run the command with that script attached; its output is in
# $work/said
traced()
{
	local script=$1 status=0 tracer

	shift
	rm -f "$work/attached"
	bpftrace -c "/bin/sh $work/hold" "$tools/$script.bt" >"$work/said" 2>&1 &
	tracer=$!
	wait_for attached
	[ -e "$work/attached" ] || { kill "$tracer"; cat "$work/said"; return 1; }
	"$@" || status=$?
	echo >"$work/end"
	wait "$tracer" || status=1
	((status == 0)) || cat "$work/said"
	return "$status"
}

# mark NAME...: remember counters of sr0 and sr1
mark()
{
	local name

	for name; do
		before[sr0/$name]=$(counter nsA sr0 "$name")
		before[sr1/$name]=$(counter nsB sr1 "$name")
	done
}

# grown NAME: print by how much that counter of both devices has grown since mark
grown()
{
	echo $(($(counter nsA sr0 "$1") - ${before[sr0/$1]} +
		$(counter nsB sr1 "$1") - ${before[sr1/$1]}))
}

# total MAP PATTERN: print the sum of the entries of a map whose keys match
total()
{
	sed -nE "s/^@$1\[$2\]: ([0-9]+)$/\1/p" "$work/said" | awk '{ n += $1 } END { print n + 0 }'
}

# in_histogram NAME: print the number of entries in that histogram
in_histogram()
{
	sed -n "/^@usecs\[$1\]:/,/^\$/p" "$work/said" |
		sed -nE 's/^[[(].*[])] +([0-9]+) \|.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# agree NUMBER COUNTER: the counter has grown by that number, which is not 0
agree()
{
	echo "$1, and $2 says $(grown "$2")"
	cat "$work/said"
	(($1 > 0 && $1 == $(grown "$2")))
}

says()
{
	grep -qE "$1" "$work/said" || { cat "$work/said"; return 1; }
}

# refused: a WRITE with a bad key
refused()
{
	mark req_remote_access_errors resp_remote_access_errors
	vrb "access: WRITE with a bad rkey"
}

# forged: datagrams with a wrong ICRC, and datagrams with a foreign P_Key
forged()
{
	mark rx_icrc_error rx_bad_pkey
	# shellcheck disable=SC2154 # netns.sh says where
	on nsA /usr/bin/python3 "$selftests/lib/roce.py" 10.9.0.1 10.9.0.2 UD_SEND_ONLY 1 \
		--deth 0x80010000,1 --payload @256 --bad-icrc --count 5 &&
		on nsA /usr/bin/python3 "$selftests/lib/roce.py" 10.9.0.1 10.9.0.2 \
			UD_SEND_ONLY 1 --deth 0x80010000,1 --payload @256 \
			--pkey 0x1234 --count 3 &&
		wait_for has_dropped 8
}

has_dropped()
{
	(($(grown rx_icrc_error) + $(grown rx_bad_pkey) >= $1))
}

# writes_and_reads: 50 of each
writes_and_reads()
{
	mark rdma_writes rdma_reads
	pair ib_write_bw -s 4096 -n 50 && pair ib_read_bw -s 65536 -n 50
}

# lossy: WRITEs of which the 20th packet is lost, and unsignalled ones whose end is
lossy()
{
	local status=0

	mark retrans_pkts go_back
	drop_nth nsA veth0 20 && pair ib_write_bw -s 65536 -n 10 || status=1
	clear_wire
	drop_nth nsA veth0 2 && vrb "lost_tail: packet" || status=1
	clear_wire
	return "$status"
}

ktap_plan 16
check "two hosts"			test -e /run/netns/nsB
check "qpfail: a WRITE that is refused"	traced qpfail refused
check "the responder, and why"	says ' access +no such key +RDMA WRITE +[0-9]+ 0x[0-9a-f]{8} +0x'
check "the requester, and why"		says ' NAK remote access +none +RDMA WRITE '
check "as many as the driver counts"	agree "$(total failures 'access, no such key')" \
	resp_remote_access_errors
check "drops: forged packets"		traced drops forged
check "those with a bad ICRC"		agree "$(total drops 'rx_icrc_error, [0-9]+')" rx_icrc_error
check "those with a foreign P_Key"	agree "$(total drops 'rx_bad_pkey, [0-9]+')" rx_bad_pkey
check "wrlat: WRITEs and READs"		traced wrlat writes_and_reads
check "each WRITE has a latency"	agree "$(in_histogram RDMA_WRITE)" rdma_writes
check "each READ has a latency"	agree "$(in_histogram RDMA_READ)" rdma_reads
check "retrans: two lost packets"	traced retrans lossy
check "each retransmission has a cause"	agree "$(total retransmitted '[0-9]+, .*')" retrans_pkts
check "one is a gap"			test "$(total go_backs '[0-9]+, gap')" -gt 0
check "one is an ACK request at the end"	test "$(total retransmitted '[0-9]+, ask')" -gt 0
check "as many as the driver counts"	agree "$(total go_backs '[0-9]+, .*')" go_back
ktap_end
