#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All packets of a queue pair use one TX queue, whatever CPU sends them, and take no
# reference to their route.
#
#   nsA [sr0] veth0 ====(one queue for each CPU)==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need tc ethtool
cpus=$(nproc)
((cpus > 1)) || skip_all "only one processor"
trace=/sys/kernel/tracing
[ -e "$trace/events" ] || mount -t tracefs none "$trace"

# queues_up NS DEV: assign TX queue n to CPU n, with a qdisc that counts its packets
queues_up()
{
	local cpu

	on "$1" ethtool -L "$2" rx "$cpus" tx "$cpus" || return
	for ((cpu = 0; cpu < cpus; cpu++)); do
		on "$1" sh -c "printf %x $((1 << cpu)) >/sys/class/net/$2/queues/tx-$cpu/xps_cpus" ||
			return
	done
	on "$1" tc qdisc add dev "$2" root handle 1: mq
}

# queue_packets NS DEV: print the packets of each queue
queue_packets()
{
	on "$1" tc -s class show dev "$2" | awk '$1 == "Sent" { print $4 }'
}

# one_queue NS DEV: one queue has carried all packets of the queue pair; other queues have
# carried at most a few, such as neighbour discovery
one_queue()
{
	queue_packets "$1" "$2" | awk -v dev="$2" '
		$1 >= 50 { used++ }
		{ all = all " " $1 }
		END { print "packets per queue of " dev ":" all; exit used != 1 }'
}

# releases: print how often dst_release() has been called
releases()
{
	awk '$1 == "release" { print $2 }' "$trace/kprobe_profile"
}

# routes_are_borrowed FROM: fewer than one release for ten packets since FROM
routes_are_borrowed()
{
	local calls=$(($(releases) - $1)) sent

	sent=$(counter nsA sr0 sent_pkts)
	echo "$sent packets sent, $calls releases of a route"
	((sent > 300 && 10 * calls < sent))
}

probe_route()
{
	echo "p:release dst_release" >"$trace/kprobe_events" &&
		echo 1 >"$trace/events/kprobes/release/enable"
} 2>/dev/null

unprobe_route()
{
	echo 0 >"$trace/events/kprobes/release/enable"
	echo "-:release" >>"$trace/kprobe_events"
} 2>/dev/null

vrb_up
queues_up nsA veth0 && queues_up nsB veth1 || skip_all "cannot assign TX queues to CPUs"

ktap_plan $(($(vrb_count queues) + 3))
probe_route && before=$(releases)
vrb_cases queues
check "requests use one queue"	one_queue nsA veth0
check "responses use one queue"	one_queue nsB veth1
if [ -n "${before:-}" ]; then
	check "packets take no route reference"	routes_are_borrowed "$before"
	unprobe_route
else
	skip "packets take no route reference"	"this kernel has no kprobes"
fi
ktap_end
