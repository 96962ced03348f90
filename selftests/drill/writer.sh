#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tshark and scapy dissect injected packets as the drills intend.
#
# Without a device: the program writes the packets that all scripts would inject to a
# capture file.

# shellcheck disable=SC2154 # set by lib/drill.sh
. "$(dirname "$0")/../lib/ktap.sh"
. "$(dirname "$0")/../lib/drill.sh"

need gcc make tshark /usr/bin/python3
/usr/bin/python3 -c 'import scapy.contrib.roce' 2>/dev/null || skip_all "no scapy"
drill_make
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

packets_written()
{
	cd "$drill_dir" && drill_scripts |
		xargs "$drill" -l "$work/pcap" >"$work/list"
}

ktap_plan 5
check "the packets of all scripts"	packets_written
ktap_relay /usr/bin/python3 "$drill_dir/writer.py" "$work/pcap" "$work/list"
ktap_end
