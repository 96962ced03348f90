#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Captures are as described in tracing.rst: each display filter finds packets, loopback is not
# captured, and a GSO chain is one packet.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#            (tcpdump)              (tcpdump)
#
# run: Wireshark (tshark) and tcpdump | tshark tcpdump
#   | the filters in tracing.rst
#   | ``tcpdump -i eth0 -w FILE udp port 4791``, then ``tshark -r FILE -Y infiniband``

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/capture.sh"
. "$(dirname "$0")/../lib/peers.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make tcpdump tshark ib_write_bw nft ethtool
/usr/bin/python3 -c 'import scapy.contrib.roce' 2>/dev/null || skip_all "no scapy"
# shellcheck disable=SC2154 # netns.sh says where
page=$selftests/../Documentation/tracing.rst
[ -e "$page" ] || skip_all "no documentation here"
vrb_make
capture=$(mktemp)
export SNAPLEN=512	# for capture.sh
trap 'pair_down; rm -f "$capture" "$capture.err"' EXIT

# found FILTER: the number of packets
found()
{
	tshark -n -r "$capture" -Y "$1" 2>"$capture.err" | wc -l
}

has()
{
	(($(found "$1") > 0)) && return
	echo "none with $1"
	cat "$capture.err"
	capinfos "$capture"
	return 1
}

has_none()
{
	local n

	n=$(found "$1")
	((n == 0)) || { echo "$n with $1"; return 1; }
}

# filters: those of the table, with numbers of this capture
filters()
{
	# shellcheck disable=SC2016 # the literals of the page
	sed -n '/list-table:: Display filters/,/^What a capture/p' "$page" |
		sed -nE 's/^   \* - ``(.*)``$/\1/p' |
		sed "s/0x0b3a69/$(first infiniband.bth.destqp)/; s/0x2a17f301/$(first infiniband.reth.r_key)/"
}

# first FIELD: of the capture
first()
{
	tshark -n -r "$capture" -Y "$1" -T fields -e "$1" 2>/dev/null | head -n 1
}

filters_find()
{
	local filter n=0

	while read -r filter; do
		has "$filter" || return
		n=$((n + 1))
	done < <(filters)
	echo "$n filters"
	((n >= 12))
}

# marked: mark every tenth packet that leaves nsA, like a congested switch
marked()
{
	on nsA nft "table ip congested {
		chain out {
			type filter hook output priority mangle;
			udp dport 4791 ip ecn ect0 numgen inc mod 10 0 ip ecn set ce
		}
	}"
}

cnp()
{
	on nsA /usr/bin/python3 "$selftests/lib/roce.py" 10.9.0.1 10.9.0.2 CNP 0x77 --becn
}

all_kinds()
{
	vrb "lost: packet" && marked && vrb -n 5 soak && vrb "access: WRITE with a bad rkey" &&
		vrb "retry: RNR, then a receive" && cnp &&
		until_accepted between cm "ib_write_bw -R -d sr1 -F -n 5" \
			"ib_write_bw -R -d sr0 -F -n 5 10.9.0.2"
}

# chains_captured: capture single WRITEs that fit into the initial window, without a
# retransmission, so that each chain begins with a message
chains_captured()
{
	local before

	for _ in 1 2 3 4 5; do
		before=$(counter nsA sr0 retrans_pkts)
		captured nsA veth0 10.9.0.2 pair ib_write_bw -s 32768 -n 5 -t 1 || return
		[ "$(counter nsA sr0 retrans_pkts)" != "$before" ] || return 0
	done
	return 1
}

ktap_plan 14
check "two hosts"			pair_up
check "the sender's chains are captured"	chains_captured
check "a chain is a packet"		has 'frame.len > 4214'
check "that begins as its first one"	has 'frame.len > 4214 && infiniband.bth.opcode == 6'
check "the others are not seen"		has_none 'infiniband.bth.opcode == 7'
check "offloads are off"		wire_end nsB veth1
check "on nsA, too, and the second packet is lost" drop_nth nsA veth0 2
check "packets of all kinds are captured"	captured nsB veth1 10.9.0.2 all_kinds
check "each filter finds some"		filters_find
check "single packets are seen"		has_none 'frame.len > 4214'
clear_wire
check "loopback is captured"		captured nsA any 10.9.0.1 \
	by_itself pair ib_write_bw -s 4096 -n 5
check "and not seen"			has_none infiniband.bth
setting nsA sr0 loopback 0
check "without it, on lo"		captured nsA lo 10.9.0.1 \
	by_itself pair ib_write_bw -s 4096 -n 5
check "packets are seen"		has infiniband.bth
ktap_end
