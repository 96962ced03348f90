#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A sender whose packets are marked receives CNPs, slows down and recovers; forged CNPs do
# no harm.
#
#   nsA [sr0] veth0 ===(some packets marked)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/capture.sh"
. "$(dirname "$0")/../lib/trace.sh"

need rdma ib_write_bw ib_send_bw ib_read_bw nft tc ethtool tcpdump tshark
need_python scapy.contrib.roce

here=$(dirname "$0")
capture=$(mktemp)
trap 'rm -f "$capture" "$capture.err"; trace_down; pair_down' EXIT

# ecn VALUE: on both devices
ecn()
{
	setting nsA sr0 ecn "$1" && setting nsB sr1 ecn "$1"
}

# mark NS DEV WHICH...: mark the RoCE packets leaving DEV that WHICH selects, in the
# syntax of nft's numgen
mark()
{
	local dev from=$1 ns out=$2

	shift 2
	read -r ns dev < <(wire_end "$from" "$out")
	on "$ns" nft -f - <<-EOT
		table netdev wire {
			chain $dev {
				type filter hook ingress device "$dev" priority 0;
				udp dport 4791 numgen inc $* meta protocol ip ip ecn ect0 ip ecn set ce
				udp dport 4791 numgen inc $* meta protocol ip6 ip6 ecn ect0 ip6 ecn set ce
			}
		}
	EOT
}

# told NS DEV NS DEV COMMAND...: marked packets arrive at the first host, which sends CNPs,
# and the second handles them
told()
{
	local np=$1 np_dev=$2 rp=$3 rp_dev=$4 sent handled marked

	shift 4
	marked=$(counter "$np" "$np_dev" np_ecn_marked_roce_packets)
	sent=$(counter "$np" "$np_dev" np_cnp_sent)
	handled=$(counter "$rp" "$rp_dev" rp_cnp_handled)
	"$@" >/dev/null || return
	wait_for counter_over "$np" "$np_dev" np_ecn_marked_roce_packets "$marked" &&
		wait_for counter_over "$np" "$np_dev" np_cnp_sent "$sent" &&
		wait_for counter_over "$rp" "$rp_dev" rp_cnp_handled "$handled"
}

# quiet COMMAND...: no CNP is sent during the command
quiet()
{
	local sent

	sent=$(counter nsB sr1 np_cnp_sent)
	"$@" >/dev/null && counter_is nsB sr1 np_cnp_sent "$sent"
}

# writes_captured COMMAND...: run it and capture the packets leaving veth0 and veth1
writes_captured()
{
	wire_end nsA veth0 >/dev/null
	wire_end nsB veth1 >/dev/null
	captured nsA veth0 10.9.0.2 "$@" >/dev/null
}

shown()
{
	tshark -n -r "$capture" -Y "$1" 2>/dev/null | wc -l
}

# all_are FILTER
all_are()
{
	local all some

	all=$(shown infiniband) some=$(shown "infiniband && $1")
	echo "$some of $all packets are $1"
	((all > 10 && some == all))
}

cnps_are_known()
{
	(($(shown 'infiniband.bth.opcode == 129') > 0)) &&
		(($(shown 'infiniband.bth.opcode == 129 && _ws.malformed') == 0))
}

# rate_is_back: the rate was cut and rose until it was unlimited
rate_is_back()
{
	trace_text | grep -o 'srnic_rate: .*' | awk '
		/why=cnp/ { cut++ }
		/why=rise/ { rise++ }
		/why=free/ && cut { free++ }
		{ last = $0 }
		END {
			print cut + 0, "cuts,", rise + 0, "rises, free", free + 0, "times"
			print last
			exit !(cut && rise && free)
		}'
}

# traced: send WRITEs until the rate is unlimited again
traced()
{
	local status=0

	trace_on rate && victim_up || return
	wait_for rate_is_back || status=1
	trace_off
	rate_is_back
	victim_lives && return "$status"
}

# lies SADDR QPN KIND NUMBER: send forged CNPs from nsB
lies()
{
	on nsB /usr/bin/python3 "$here/cnp.py" send "$1" 10.9.0.1 "$2" "$3" "$4"
}

# counts COUNTER NUMBER LIE...: after forged CNPs COUNTER has grown by NUMBER
counts()
{
	local name=$1 want=$2

	want=$(($(counter nsA sr0 "$name") + want))
	shift 2
	lies "$@" && wait_for counter_over nsA sr0 "$name" $((want - 1)) &&
		counter_is nsA sr0 "$name" "$want"
}

# flood: every CNP is handled or ignored
flood()
{
	local before now

	before=$(cnps)
	lies 10.9.0.2 "$1" good 1000 || return
	wait_for flood_is_over $((before + 1000)) || { cnps; return 1; }
}

cnps()
{
	echo $(($(counter nsA sr0 rp_cnp_handled) + $(counter nsA sr0 rp_cnp_ignored)))
}

flood_is_over()
{
	[ "$(cnps)" -ge "$1" ]
}

# victim_up: start a pair of connected queue pairs; $victim is the QPN of that on nsA
victim_up()
{
	flow_up ib_write_bw -s 4096 && wait_for victim_known
}

victim_known()
{
	victim=$(on nsA rdma res show qp link sr0/1 | sed -n 's/.* lqpn \([0-9]*\) .*type RC state RTS.*/\1/p')
	[ -n "$victim" ]
}

# victim_lives: it continues to send
victim_lives()
{
	local status=0

	victim_known &&
		wait_for counter_over nsA sr0 rdma_writes \
			"$(counter nsA sr0 rdma_writes)" || status=1
	flow_down
	return "$status"
}

bottleneck()
{
	on nsA tc qdisc add dev veth0 root handle 1: tbf rate 200mbit burst 32k \
		limit 10m &&
		on nsA tc qdisc add dev veth0 parent 1:1 handle 2: \
			fq_codel ecn ce_threshold 1ms limit 1000
}

# short_queue NS DEV: set a short queue that tail-drops and does not mark
short_queue()
{
	on "$1" tc qdisc replace dev "$2" root tbf rate 200mbit burst 32k limit 100k
}

# few_again FIRST COMMAND...: fewer than half of FIRST packets are retransmitted
few_again()
{
	local again before first=$1

	shift
	before=$(counter nsA sr0 retrans_pkts)
	"$@" || return
	again=$(($(counter nsA sr0 retrans_pkts) - before))
	echo "$again of $first packets were sent again"
	((again < first / 2))
}

# gid6: index of the GID that is the IPv6 address, the same on both hosts
gid6()
{
	on nsA sh -c 'grep -l fd09: /sys/class/infiniband/sr0/ports/1/gids/*' 2>/dev/null |
		head -n1 | sed 's,.*/,,'
}

writes=(pair ib_write_bw -s 65536 -n 200)

ktap_plan 39
check "two hosts"			pair_up
check "no CNP without a mark"		quiet "${writes[@]}"
check "packets"				writes_captured "${writes[@]}"
check "packets are ECN capable"		all_are 'ip.dsfield.ecn == 2'
check "one in eight is marked"		mark nsA veth0 mod 8 0
check "WRITE"		told nsB sr1 nsA sr0	"${writes[@]}"
check "SEND"		told nsB sr1 nsA sr0	pair ib_send_bw -s 65536 -n 200
check "UC"		told nsB sr1 nsA sr0	pair ib_write_bw -c UC -s 4096 -n 2000
check "XRC"		told nsB sr1 nsA sr0	pair ib_send_bw -c XRC -s 65536 -n 200
check "IPv6"		told nsB sr1 nsA sr0	pair ib_write_bw -x "$(gid6)" -s 65536 -n 200
check "packets"				writes_captured "${writes[@]}"
check "tshark dissects the CNPs"	cnps_are_known
check "scapy builds the same packets"	/usr/bin/python3 "$here/cnp.py" judge "$capture"
check "ECN is switched off"		ecn 0
check "switched off: no CNP"		quiet "${writes[@]}"
check "packets"				writes_captured "${writes[@]}"
check "packets are not ECN capable"	all_are 'ip.dsfield.ecn == 0'
check "ECN is switched on"		ecn 1
clear_wire
check "READ responses are marked"	mark nsB veth1 mod 8 0
check "READ"		told nsA sr0 nsB sr1	pair ib_read_bw -s 65536 -n 200
clear_wire
check "the first packets are marked"	mark nsA veth0 mod 1000000000 '<' 200
if trace_can; then
	trace_up
	check "the rate falls and recovers"	traced
else
	skip "the rate falls and recovers" "this kernel traces no events"
fi
clear_wire
check "a queue that marks"		bottleneck
check "its marks draw CNPs"		told nsB sr1 nsA sr0	"${writes[@]}"
check "a short queue"			short_queue nsA veth0
check "WRITEs get through it"		few_again 16000 pair ib_write_bw -s 65536 -n 1000
on nsA tc qdisc del dev veth0 root
check "a short queue for responses"	short_queue nsB veth1
check "READs get through it"		pair ib_read_bw -s 65536 -n 200
on nsB tc qdisc del dev veth1 root
check "a queue pair to forge CNPs for"	victim_up
check "from an unknown address"	counts rx_bad_addr 100 10.9.0.77 "$victim" good 100
check "without BECN"		counts rp_cnp_ignored 100 10.9.0.2 "$victim" unmarked 100
check "truncated"		counts rx_malformed 100 10.9.0.2 "$victim" short 100
check "with a wrong ICRC"	counts rx_icrc_error 100 10.9.0.2 "$victim" icrc 100
check "to a queue pair without a peer"	counts rx_malformed 100 10.9.0.2 1 good 100
check "ECN is switched off"	setting nsA sr0 ecn 0
check "existing queue pairs ignore CNPs"	counts rp_cnp_ignored 100 10.9.0.2 "$victim" good 100
check "ECN is switched on"	setting nsA sr0 ecn 1
check "a thousand valid ones"		flood "$victim"
check "that queue pair continues to send"	victim_lives
ktap_end
