# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# srnic selftests - captures of all packets that a command causes; sourced behind netns.sh

# captured NS DEV PEER COMMAND...: run it, and capture the RoCEv2 packets there, of at most
# $SNAPLEN bytes each, in the file $capture.  tcpdump does not write what it has not yet read
# when it is ended, so a datagram from nsA to PEER marks the end of the packets.
captured()
{
	local dump peer=$3 status=0

	ip netns exec "$1" tcpdump -i "$2" -Z root -U -B 65536 -s "${SNAPLEN:-0}" -w "$capture" \
		udp port 4791 or udp port 9 2>"$capture.err" &
	dump=$!
	wait_for grep -q 'listening on' "$capture.err" || return
	shift 3
	"$@" || status=$?
	on nsA bash -c "echo end-of-capture >/dev/udp/$peer/9"
	wait_for grep -q end-of-capture "$capture" || status=1
	kill -TERM "$dump"
	wait "$dump"
	cat "$capture.err"
	return "$status"
}
