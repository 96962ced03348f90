#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prometheus' node_exporter reports the traffic of a device, and each query of the dashboard
# for Grafana returns data from Prometheus.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# run: Prometheus and node_exporter, with the dashboard for Grafana
#   | prometheus prometheus-node-exporter
#   | nothing
#   | ``prometheus-node-exporter --collector.infiniband``

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw prometheus-node-exporter prometheus promtool python3
port=9100
dashboard=$(shared grafana/srnic.json) || skip_all "no dashboard"

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
	wait_for metrics || { cat "$said"; return 1; }
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

# known_metrics: the exporter has all metrics that the dashboard names
known_metrics()
{
	local name status=0

	metrics >"$work/metrics"
	while read -r name; do
		grep -q "^$name{.*device=\"sr0\"" "$work/metrics" && continue
		echo "no metric $name"
		status=1
	done < <(grep -oE 'node_infiniband_[a-z_]+' "$dashboard" | sort -u)
	return "$status"
}

# queries: those of the dashboard, with values for Grafana's variables
queries()
{
	# shellcheck disable=SC2016 # Grafana's variables
	python3 - "$dashboard" <<-'EOT' |
		import json, sys
		for panel in json.load(open(sys.argv[1]))["panels"]:
		    for target in panel["targets"]:
		        print(target["expr"])
	EOT
		sed 's/\$__\(rate_interval\|range\)/1h/g; s/\$instance/.*/g; s/\$device/sr[01]/g'
}

# scrapes: start Prometheus, which scrapes once a second
scrapes()
{
	cat >"$work/prometheus.yml" <<-EOT
		scrape_configs:
		- job_name: srnic
		  scrape_interval: 1s
		  static_configs:
		  - targets: ["127.0.0.1:$port"]
	EOT
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
		--web.listen-address=127.0.0.1:9090 2>"$said" &
	prometheus=$!
	wait_for finds 'node_infiniband_info' || { cat "$said"; return 1; }
}

# finds QUERY: it has a value for each of the devices
finds()
{
	promtool query instant http://127.0.0.1:9090 "$1" >"$work/answer" 2>&1 &&
		grep -q 'device="sr0"' "$work/answer" && grep -q 'device="sr1"' "$work/answer"
}

# sees_traffic: Prometheus has seen the bytes sent by sr0
sees_traffic()
{
	finds 'rate(node_infiniband_port_data_transmitted_bytes_total[1h])' &&
		grep 'device="sr0"' "$work/answer" | grep -vq '=> 0 @'
}

all_found()
{
	local n=0 query

	while read -r query; do
		wait_for finds "$query" ||
			{ echo "$query"; cat "$work/answer"; return 1; }
		n=$((n + 1))
	done < <(queries)
	echo "$n queries"
	((n > 10))
}

declare -A before
work=$(mktemp -d)
said=$work/said
exporter='' prometheus=''
# shellcheck disable=SC2086 # none or one
trap 'kill $exporter $prometheus; pair_down; rm -rf "$work"' EXIT
exec 3>&1

ktap_plan 11
check "two hosts"			pair_up
check "node_exporter finds the devices"	exports
check "and all metrics of the dashboard" known_metrics
check "Prometheus finds them there"	scrapes
check "20 WRITEs of 1 MiB"		writes
check "sr0 sent them"	told sr0 port_data_transmitted_bytes_total 20971520 23068672
check "sr1 received them"	told sr1 port_data_received_bytes_total 20971520 23068672
check "only ACKs are received"		told sr0 port_data_received_bytes_total 1 1048576
diag "$(metrics | grep -E 'sr0|sr1' | sort)"
check "no packet was bad or dropped"	no_errors
check "Prometheus sees the traffic"	wait_for sees_traffic
check "each query of the dashboard has an answer"	all_found
ktap_end
