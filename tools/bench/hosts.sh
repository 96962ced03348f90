# SPDX-License-Identifier: GPL-2.0
# srnic bench - setups: hosts, cables, paths and disks; sourced by tools/bench/run
#
#   <type>A [<type>0] v0<type> ======== v1<type> [<type>1] <type>B
#
# Each type has two hosts, a cable and networks of its own: 10.9.N, fd09:N.
#
#   cable TYPE SETUP         creates hosts and cable according to SETUP
#   cut_cable TYPE SETUP     removes them
#   hosts_leave              removes the hosts that all types share
#
# In setups "paths-MTU" the cable leads through a third host, <type>R, with a bridge of
# p0<type> and p1<type>:
#
#   path TYPE WORDS          sets its delay, rate and loss
#
# In some setups both devices are in the initial namespace: for NVMe, and for rdma_rxe,
# which receives only there before 7.0.  The cable is a pair of veth, or in setups
# "icount-netkit-l2" and "icount-netkit-l3" of netkit in that mode.  Setups "consumer-KIND-N" are
# those of tools/bench/consumer, which runs as long as one of them exists.  In setups "machines"
# and "machines-MTU" each of them is in the initial namespace of its own machine, see
# selftests/lib/machines.sh.
# shellcheck shell=bash

declare -A NUMBER=([srnic]=1 [rxe]=2 [siw]=3 [tcp]=4 [srnic_rxe]=5 [bbr]=6)
declare -A GID GID_THERE	# by type; of the other machine

old_kernel()
{
	local major

	major=$(uname -r)
	((${major%%.*} < 7))
}

two_machines()
{
	[[ $1 == machines?(-*) ]]
}

is_consumer()
{
	[[ $1 == consumer-* ]]
}

# is_tcp TYPE: TCP with the default congestion control, or with BBR
is_tcp()
{
	[[ $1 == @(tcp|bbr) ]]
}

# has_gids TYPE: its queue pairs are connected by GIDs
has_gids()
{
	! is_tcp "$1" && [ "$1" != siw ]
}

one_host()
{
	[[ $1 == @(onehost|nvme|icount|consumer-*) ]] || old_kernel
}

# address TYPE END
address()
{
	echo "10.9.${NUMBER[$1]}.$(($2 + 1))"
}

# host TYPE LETTER END [DEV]
host()
{
	local dev=${4:-v$3$1} ns=$1$2

	ip -n "$ns" link set lo up
	ip -n "$ns" addr add "$(address "$1" "$3")/24" dev "$dev"
	ip -n "$ns" addr add "fd09:${NUMBER[$1]}::$(($3 + 1))/64" dev "$dev" nodad
	ip -n "$ns" link set "$dev" up
	is_tcp "$1" ||
		ip netns exec "$ns" rdma link add "$1$3" type "$1" netdev "$dev"
}

# neighbour TYPE LETTER END: a static ARP entry, since the RDMA core waits seconds for an
# ARP reply even if it arrives at once
neighbour()
{
	local mac other=$((1 - $3))

	mac=$(ip -n "$1$([ "$2" = A ] && echo B || echo A)" -j link show "v$other$1" |
		jq -r '.[0].address')
	ip -n "$1$2" neigh add "$(address "$1" "$other")" lladdr "$mac" dev "v$3$1" &&
		ip -n "$1$2" neigh add "fd09:${NUMBER[$1]}::$((other + 1))" \
			lladdr "$mac" dev "v$3$1"
}

# --- each end on a machine of its own ------------------------------------------

# machine_up TYPE LETTER END MTU, on that machine; the other one has the other letter
machine_up()
{
	local dev=veth$3 mac=52:54:00:00:00:0B other=$((1 - $3))

	[ "$2" = A ] || mac=52:54:00:00:00:0A
	driver "$1" && host_wired "$1$2" "$dev" "$4" && host "$1" "$2" "$3" "$dev" &&
		ip neigh replace "$(address "$1" "$other")" lladdr "$mac" dev "$dev"
}

# machine_gid TYPE LETTER END: wait for the GID, and print its index
machine_gid()
{
	local gid=("$1$2" "$1$3" "*:ffff:0a09:0${NUMBER[$1]}*")

	wait_for gid_index "${gid[@]}" >/dev/null && gid_index "${gid[@]}"
}

# machines_up TYPE MTU
machines_up()
{
	machine_up "$1" A 0 "$2" && there machine_up "$1" B 1 "$2" || return
	! has_gids "$1" || { GID[$1]=$(machine_gid "$1" A 0) &&
		GID_THERE[$1]=$(there machine_gid "$1" B 1); }
}

# machine_down TYPE LETTER END
machine_down()
{
	host_down "veth$3" "$1$3"
	ip netns del "$1$2"
}

# --- what a host has done ------------------------------------------------------

# Seconds that all processors were busy.  Neither idle time nor waiting for a disk counts.
busy_seconds()
{
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" {
		print ($2 + $3 + $4 + $7 + $8) / hz }' /proc/stat
}

# usage DEV: "seconds that this machine was busy, bytes that crossed the wire"
usage()
{
	echo "$(busy_seconds) $(wire_bytes "$1")"
}

wire_bytes()
{
	local counters=/sys/class/net/$1/statistics

	echo $(($(<"$counters/rx_bytes") + $(<"$counters/tx_bytes")))
}

# --- both ends on one host ---------------------------------------------------
# Packets between two addresses of a host do not leave it, unless packets sent by the host
# look up a table of the cables first.

# cable_rules add|del: for packets from this host, look up the cables, then its addresses
cable_rules()
{
	local family

	for family in -4 -6; do
		ip "$family" rule "$1" priority 1 iif lo lookup 900
		ip "$family" rule "$1" priority 2 lookup local
	done
}

rules_are_there()
{
	ip rule list priority 1 | grep -q 'lookup 900'
}

use_cables()
{
	rules_are_there && return
	cable_rules add && ip -4 rule del priority 0 && ip -6 rule del priority 0 &&
		sysctl -qw net.ipv4.conf.all.rp_filter=0
}

# route_over DEV FROM TO
route_over()
{
	ip route add "$3" dev "$1" src "$2" table 900
}

# outside TYPE: have its two ends communicate over the cable
outside()
{
	local a b v0=v0$1 v1=v1$1 v6=fd09:${NUMBER[$1]}:

	a=$(address "$1" 0) b=$(address "$1" 1)
	sysctl -qw "net.ipv4.conf.$v0.accept_local=1" "net.ipv4.conf.$v0.rp_filter=0" \
		"net.ipv4.conf.$v1.accept_local=1" "net.ipv4.conf.$v1.rp_filter=0" &&
		route_over "$v0" "$a" "$b" && route_over "$v1" "$b" "$a" &&
		route_over "$v0" "$v6:1" "$v6:2" &&
		route_over "$v1" "$v6:2" "$v6:1" && use_cables
}

hosts_leave()
{
	rules_are_there || return 0
	ip -4 rule add priority 0 lookup local
	ip -6 rule add priority 0 lookup local
	cable_rules del
}

# --- cables ------------------------------------------------------------------

# new_hosts TYPE SETUP
new_hosts()
{
	local letter

	for letter in A B; do
		if one_host "$2"; then
			ip netns attach "$1$letter" 1
		else
			ip netns add "$1$letter"
		fi || return
	done
}

# lossy TYPE: prepare the loss of single packets of the client, at the receiving netdev
lossy()
{
	local ns=${1}B

	ip netns exec "${1}A" ethtool -K "v0$1" tx-gso-list off \
		tx-udp-segmentation off tso off gso off >/dev/null
	modprobe -q ifb numifbs=0
	ip -n "$ns" link add "ifb$1" type ifb
	ip -n "$ns" link set "ifb$1" up
	ip netns exec "$ns" tc qdisc add dev "ifb$1" root netem loss 0% limit 10000
	ip netns exec "$ns" tc qdisc add dev "v1$1" clsact
	ip netns exec "$ns" tc filter add dev "v1$1" ingress protocol ip \
		matchall action mirred egress redirect dev "ifb$1"
}

# lose TYPE PERCENT: set the percentage of lost packets
lose()
{
	ip netns exec "${1}B" tc qdisc change dev "ifb$1" root netem loss "$2%" limit 10000
}

driver()
{
	case $1 in
	tcp) ;;
	bbr) modprobe -q tcp_bbr ;;
	*) modprobe -q "rdma-link-$1" ;;
	esac
}

# wire TYPE SETUP MTU: siw distinguishes the ends by the indices of their netdevs only.
wire()
{
	local index=$((100 + 10 * NUMBER[$1]))

	if [[ $2 == icount-netkit-* ]]; then
		python3 "${here:?}/../../selftests/lib/netkit.py" "${2#icount-netkit-}" "$3" \
			"${1}A" "v0$1" "${1}B" "v1$1"
		return
	fi
	ip link add "v0$1" index "$index" mtu "$3" netns "${1}A" type veth \
		peer name "v1$1" index $((index + 1)) mtu "$3" netns "${1}B"
}

cable()
{
	local mtu=4200

	[[ $2 =~ ^((paths|machines)-)?([0-9]+)$ ]] && mtu=${BASH_REMATCH[3]}
	if two_machines "$2"; then
		machines_up "$1" "$mtu"
		return
	fi
	if is_consumer "$2"; then
		consumer_up "$1" "$2"
		return
	fi
	driver "$1" && new_hosts "$1" "$2" || return
	if [[ $2 == paths-* ]]; then
		bridged_wire "$1" "$mtu"
	else
		wire "$1" "$2" "$mtu"
	fi || return
	host "$1" A 0 && host "$1" B 1 || return
	# a netdev for IP packets has no neighbours
	[ "$2" = icount-netkit-l3 ] || { neighbour "$1" A 0 && neighbour "$1" B 1; } || return
	if one_host "$2" && [[ $2 != @(self|polled) ]]; then
		outside "$1" || return
	fi
	! has_gids "$1" || gid_wait "$1" "$2" || return
	case $2 in
	loss) lossy "$1" ;;
	nvme) disk_up "$1" ;;
	esac
}

cut_cable()
{
	local n

	if two_machines "$2"; then
		machine_down "$1" A 0
		there machine_down "$1" B 1
		return
	fi
	if is_consumer "$2"; then
		consumer_down
		return
	fi
	[ "$2" != nvme ] || disk_down "$1"
	is_tcp "$1" || for n in 0 1; do
		rdma link del "$1$n" 2>/dev/null ||
			ip netns exec "$1$([ "$n" = 0 ] && echo A || echo B)" \
				rdma link del "$1$n"
	done
	[ "$2" != loss ] || ip -n "${1}B" link del "ifb$1"
	ip -n "${1}A" link del "v0$1"
	ip netns del "${1}A"
	ip netns del "${1}B"
	[[ $2 != paths-* ]] || ip netns del "${1}R"
	# on an old kernel it occupies its UDP port as long as it exists
	[ "$1" != rxe ] || ! one_host "$2" || modprobe -q -r rdma_rxe
	sleep 0.5
}

# gid_wait TYPE SETUP: wait for the GID, and set GID[TYPE] to its index
gid_wait()
{
	for _ in {1..100}; do
		GID[$1]=$(gid_now "$@") && return
		sleep 0.1
	done
	return 1
}

gid_now()
{
	local pattern="*:ffff:0a09:0${NUMBER[$1]}*"

	[ "$2" != ipv6 ] || pattern="fd09:000${NUMBER[$1]}:*"
	ip netns exec "${1}A" bash -c '
		for gid in "$1"/*; do
			[[ $(<"$gid") != $2 ]] || exec basename "$gid"
		done
		exit 1' - "/sys/class/infiniband/${1}0/ports/1/gids" "$pattern" \
		2>/dev/null
}

# --- paths -------------------------------------------------------------------

# port TYPE END LETTER MTU: a port of the bridge, with the cable to that host.  Packets are
# delayed, queued and lost one by one.
port()
{
	ip link add "v$2$1" mtu "$4" netns "$1$3" type veth \
		peer name "p$2$1" mtu "$4" netns "${1}R" &&
		ip -n "${1}R" link set "p$2$1" master bridge up &&
		apart "$1$3" "v$2$1" && apart "${1}R" "p$2$1"
}

# apart NS DEV: disable offloads that merge packets
apart()
{
	ip netns exec "$1" ethtool -K "$2" gro off gso off tso off tx-gso-list off \
		tx-udp-segmentation off >/dev/null
}

# TCP gets enough memory for a long path.  The bridge accepts any burst of a sender: only
# the queue of the bottleneck overflows.
bridged_wire()
{
	local letter

	sysctl -qw net.core.netdev_max_backlog=100000
	ip netns add "${1}R" && ip -n "${1}R" link add bridge mtu "$2" type bridge &&
		ip -n "${1}R" link set bridge up && port "$1" 0 A "$2" &&
		port "$1" 1 B "$2" || return
	for letter in A B; do
		ip netns exec "$1$letter" sysctl -qw \
			net.ipv4.tcp_rmem="4096 131072 67108864" \
			net.ipv4.tcp_wmem="4096 65536 67108864" || return
	done
}

# bytes_per_ms RATE
bytes_per_ms()
{
	case $1 in
	*gbit) echo $((125000 * ${1%gbit})) ;;
	*mbit) echo $((125 * ${1%mbit})) ;;
	esac
}

# bottleneck NS DEV PARENT RATE QUEUE ECN: QUEUE is in bytes.  After a pause a third of it may
# be sent at once, since the guest may not have been scheduled.
bottleneck()
{
	local burst=$(($5 / 3)) tc=(ip netns exec "$1" tc qdisc add dev "$2")

	# shellcheck disable=SC2086 # words
	"${tc[@]}" $3 handle 2: tbf rate "$4" limit "$5" \
		burst $((burst < 65536 ? burst : 65536)) || return
	[ -z "$6" ] || "${tc[@]}" parent 2:1 fq_codel flows 1 limit $(($5 / 4200)) \
		target 1s interval 10s ecn ce_threshold 500us
}

# path TYPE WORDS: all apply to each direction
#   RATE        of the bottleneck: 100mbit, 1gbit
#   Nms         delay from one end to the other
#   lossP       percent of the packets are lost
#   reorderP    percent of the packets are not delayed
#   Nkb         queue of the bottleneck; the default is one bandwidth-delay product, at least
#               256 KiB
#   ecn         the bottleneck marks ECN-capable packets queued for 500 us
path()
{
	local delay=0 dev ecn='' netem='' ns=${1}R parent queue='' rate word

	for word in ${2//,/ }; do
		case $word in
		*bit) rate=$word ;;
		*ms) delay=${word%ms} netem+=" delay $word" ;;
		loss*) netem+=" loss ${word#loss}%" ;;
		reorder*) netem+=" reorder ${word#reorder}%" ;;
		*kb) queue=$((1000 * ${word%kb})) ;;
		ecn) ecn=ecn ;;
		*) return 1 ;;
		esac
	done
	queue=${queue:-$(awk -v delay="$delay" -v rate="$(bytes_per_ms "$rate")" 'BEGIN {
		bytes = 2 * delay * rate
		print int(bytes > 262144 ? bytes : 262144)
	}')}
	for dev in "p0$1" "p1$1"; do
		parent=root
		ip netns exec "$ns" tc qdisc del dev "$dev" root 2>/dev/null
		if [ -n "$netem" ]; then
			# shellcheck disable=SC2086 # words
			ip netns exec "$ns" tc qdisc add dev "$dev" root handle 1: \
				netem limit 200000 $netem || return
			parent='parent 1:'
		fi
		bottleneck "$ns" "$dev" "$parent" "$rate" "$queue" "$ecn" || return
	done
}

# --- disks -------------------------------------------------------------------
# NVMe over Fabrics: a null_blk at the second end, connected to the first one.

NVMET=/sys/kernel/config/nvmet

# put VALUE FILE
put()
{
	echo -n "$1" >"$2"
}

disk_up()
{
	local port=$NVMET/ports/${NUMBER[$1]} subsystem=$NVMET/subsystems/bench-$1
	local to transport=rdma

	to=$(address "$1" 1)
	[ "$1" != tcp ] || transport=tcp
	[ -b /dev/nullb0 ] || modprobe -q null_blk nr_devices=1 || return
	modprobe -q -a "nvmet-$transport" "nvme-$transport" || return
	mkdir "$subsystem" "$subsystem/namespaces/1" "$port" &&
		put 1 "$subsystem/attr_allow_any_host" &&
		put /dev/nullb0 "$subsystem/namespaces/1/device_path" &&
		put 1 "$subsystem/namespaces/1/enable" &&
		put "$transport" "$port/addr_trtype" && put ipv4 "$port/addr_adrfam" &&
		put "$to" "$port/addr_traddr" && put 4420 "$port/addr_trsvcid" &&
		ln -s "$subsystem" "$port/subsystems/" &&
		timeout -s KILL 30 nvme connect -t "$transport" -a "$to" -s 4420 \
			-n "bench-$1" -i 2
}

# disk TYPE: print the disk on the host; with multipath, the one above its paths
disk()
{
	local name path

	for path in /sys/class/nvme/nvme*/nvme*n1; do
		[ "$(<"${path%/*}/subsysnqn")" = "bench-$1" ] || continue
		name=$(sed -E 's/c[0-9]+n/n/' <<<"${path##*/}")
		[ -b "/dev/$name" ] && echo "/dev/$name" && return
	done
	return 1
}

disk_down()
{
	local port=$NVMET/ports/${NUMBER[$1]} subsystem=$NVMET/subsystems/bench-$1

	timeout -s KILL 30 nvme disconnect -n "bench-$1" >/dev/null
	rm "$port/subsystems/bench-$1"
	put 0 "$subsystem/namespaces/1/enable"
	rmdir "$port" "$subsystem/namespaces/1" "$subsystem"
}

# --- kernel consumers --------------------------------------------------------

# consumer_fits TYPE KIND: siw is no RoCE device, which SMC-R requires, and has no WRITE with
# immediate data, which RNBD requires.  It listens on the TCP port that an iSER target itself
# listens on for TCP.
consumer_fits()
{
	[[ $1/$2 != @(tcp|bbr)/* && $1/$2 != siw/@(rnbd|iser|smc) ]]
}

# consumer_up TYPE SETUP: set WHERE to what it prints.  Its processors are those of the kernel.
consumer_up()
{
	local kind=${2#consumer-}

	kind=${kind%-*}
	consumer_fits "$1" "$kind" || return
	# shellcheck disable=SC2154 # of tools/bench/run: here
	coproc CONSUMER { TYPE=$1 exec "$here/consumer" "$kind" 2>>"$RESULTS/errors"; }
	IFS= read -r WHERE <&"${CONSUMER[0]}"
}

consumer_down()
{
	local input=${CONSUMER[1]:-} pid=${CONSUMER_PID:-}

	[ -n "$pid" ] || return 0
	exec {input}>&-
	wait "$pid"
}
