#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tshark and scapy find no error in the packets that srnic sends.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#                                   (tcpdump)

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/capture.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need rdma gcc make tcpdump tshark python3
python3 -c 'import scapy.contrib.roce' 2>/dev/null || skip_all "no scapy"
vrb_make

here=$(dirname "$0")
capture=$(mktemp)

# packets_captured ARGUMENT...: capture the harness's packets, one by one, in $capture
packets_captured()
{
	wire_end nsA veth0 >/dev/null
	wire_end nsB veth1 >/dev/null
	captured nsB veth1 10.9.0.2 vrb "$@"
}

# tshark_shows FILTER: print the packets that match.  RoCEv2 sends no UDP checksum over
# IPv6 either (RFC 6936): the ICRC is stronger.
tshark_shows()
{
	tshark -n -r "$capture" -o udp.ignore_ipv6_zero_checksum:TRUE -Y "$1" \
		2>/dev/null
}

tshark_packets()
{
	tshark_shows "$1" | wc -l
}

has()
{
	(($(tshark_packets "$1") > 0)) || { echo "none with $1"; return 1; }
}

hasnt()
{
	local n

	n=$(tshark_packets "$1")
	((n == 0)) || { tshark_shows "$1" | head; return 1; }
}

icrc_agrees()
{
	local good bad

	read -r good bad < <(python3 "$here/icrc.py" "$capture")
	echo "$good right, $bad wrong"
	((good > 100 && bad == 0))
}

# all_roce: tshark dissects each packet to port 4791 as InfiniBand
all_roce()
{
	local all roce

	all=$(tshark_packets udp.port==4791)
	roce=$(tshark_packets infiniband.bth)
	echo "$all packets, $roce of them InfiniBand"
	((all > 100 && all == roce))
}

ktap_plan $((1 + 2 * 6 + 5))
check "two hosts"			pair_up
for ip in IPv4 IPv6; do
	six=()
	[ "$ip" = IPv4 ] || six=(-6)
	check "$ip: traffic of all kinds"	packets_captured "${six[@]}" -n 5 soak
	check "$ip: all of it is InfiniBand"	all_roce
	check "$ip: nothing is malformed"	hasnt '_ws.malformed'
	check "$ip: no expert warnings"		hasnt '_ws.expert.severity >= 6291456'
	check "$ip: each ICRC is right"		icrc_agrees
	check "$ip: no UDP checksum is bad"	hasnt 'udp.checksum.status == 0'
done
for op in "SEND:infiniband.bth.opcode in {0,1,2,4}" \
	"WRITE:infiniband.bth.opcode in {6,7,8,10}" \
	"READ:infiniband.bth.opcode == 12" \
	"FETCH_ADD:infiniband.bth.opcode == 20" \
	"acknowledge:infiniband.aeth"; do
	check "${op%%:*} was captured"		has "${op#*:}"
done
rm -f "$capture" "$capture.err"
ktap_end
