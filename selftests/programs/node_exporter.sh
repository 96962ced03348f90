#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prometheus' node_exporter reports how much a device has sent and received.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw prometheus-node-exporter
port=9100

# metrics: print those of RDMA devices
metrics()
{
	{
		printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && cat <&3
	} 3<>"/dev/tcp/127.0.0.1/$port" | tr -d '\r' | grep '^node_infiniband_'
}

# metric NAME DEV: as a whole number
metric()
{
	metrics | awk -v series="node_infiniband_$1{device=\"$2\",port=\"1\"}" \
		'$1 == series { printf "%d\n", $2 }'
}

exports()
{
	prometheus-node-exporter --collector.disable-defaults --collector.infiniband \
		--web.listen-address="127.0.0.1:$port" 2>"$said" &
	exporter=$!
	wait_for 60 metrics || { cat "$said"; return 1; }
}

# told DEV NAME LEAST MOST: the metric has grown by LEAST to MOST
told()
{
	local grown

	grown=$(($(metric "$2" "$1") - ${before[$1/$2]}))
	diag "$1: $2 $grown" >&3
	((grown >= $3 && grown <= $4))
}

no_errors()
{
	[ "$(metric port_errors_received_total sr1)" = 0 ] &&
		[ "$(metric port_discards_transmitted_total sr0)" = 0 ]
}

writes()
{
	local dev name

	for dev in sr0 sr1; do
		for name in port_data_{transmitted,received}_bytes_total; do
			before[$dev/$name]=$(metric "$name" "$dev")
		done
	done
	pair ib_write_bw -s 1048576 -n 20
}

declare -A before
said=$(mktemp)
trap 'kill "$exporter"; pair_down; rm -f "$said"' EXIT
exec 3>&1

ktap_plan 7
check "two hosts"			pair_up
check "node_exporter finds the devices"	exports
check "20 WRITEs of 1 MiB"		writes
check "sent by one"	told sr0 port_data_transmitted_bytes_total 20971520 23068672
check "received by the other"	told sr1 port_data_received_bytes_total 20971520 23068672
check "only ACKs are received"		told sr0 port_data_received_bytes_total 1 1048576
diag "$(metrics | grep -E 'sr0|sr1' | sort)"
check "no packet was bad or dropped"	no_errors
ktap_end
