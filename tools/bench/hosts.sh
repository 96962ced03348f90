# SPDX-License-Identifier: GPL-2.0
# srnic bench - what is measured between: hosts, cables, disks; tools/bench/run
# sources it
#
#   <type>A [<type>0] v0<type> ======== v1<type> [<type>1] <type>B
#
# Each type has two hosts and a cable of its own, and a network: 10.9.N, fd09:N.
#
#   cable TYPE SETUP         makes them as SETUP says
#   cut_cable TYPE SETUP     takes them away
#   hosts_leave              nothing is left of what all of them shared
#
# In setups paths-MTU the cable goes through a third host, <type>R, which has a bridge
# between p0<type> and p1<type>:
#
#   path TYPE WORDS          how long, narrow and lossy it is from now on
#
# In some setups both hosts are one, the first namespace: where NVMe lives, and
# where rdma_rxe before 7.0 receives.
# shellcheck shell=bash

declare -A NUMBER=([srnic]=1 [rxe]=2 [siw]=3 [tcp]=4)
declare -A GID	# by type

old_kernel()
{
	local major

	major=$(uname -r)
	((${major%%.*} < 7))
}

one_host()
{
	[[ $1 == @(onehost|nvme|icount) ]] || old_kernel
}

# address TYPE END
address()
{
	echo "10.9.${NUMBER[$1]}.$(($2 + 1))"
}

# host TYPE LETTER END
host()
{
	local dev=v$3$1 ns=$1$2

	ip -n "$ns" link set lo up
	ip -n "$ns" addr add "$(address "$1" "$3")/24" dev "$dev"
	ip -n "$ns" addr add "fd09:${NUMBER[$1]}::$(($3 + 1))/64" dev "$dev" nodad
	ip -n "$ns" link set "$dev" up
	[ "$1" = tcp ] ||
		ip netns exec "$ns" rdma link add "$1$3" type "$1" netdev "$dev"
}

# neighbour TYPE LETTER END: ARP is told what it would find, for the RDMA core waits
# seconds for an answer that comes at once
neighbour()
{
	local mac other=$((1 - $3))

	mac=$(ip -n "$1$([ "$2" = A ] && echo B || echo A)" -j link show "v$other$1" |
		jq -r '.[0].address')
	ip -n "$1$2" neigh add "$(address "$1" "$other")" lladdr "$mac" dev "v$3$1" &&
		ip -n "$1$2" neigh add "fd09:${NUMBER[$1]}::$((other + 1))" \
			lladdr "$mac" dev "v$3$1"
}

# --- both ends on one host ---------------------------------------------------
# What goes from one address of a host to another stays inside of it, unless what
# comes from here asks a table of the cables first.

# cable_rules add|del, for what had no rule of its own before
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

# outside TYPE: its two ends talk over the cable
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

# lossy TYPE: packets of the client can be lost one by one, where they arrive
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

# lose TYPE PERCENT: so many of them, from now on
lose()
{
	ip netns exec "${1}B" tc qdisc change dev "ifb$1" root netem loss "$2%" limit 10000
}

driver()
{
	[ "$1" = tcp ] || modprobe -q "rdma_$1" || modprobe -q "$1"
}

# polled TYPE SETUP USECS: send queues of srnic are watched for so long
polled()
{
	[ "$1/$2" != srnic/polled ] ||
		put "$3" /sys/module/srnic/parameters/poll_usecs
}

# wire TYPE MTU: siw tells the ends apart by their netdevs' numbers alone.
wire()
{
	local index=$((100 + 10 * NUMBER[$1]))

	ip link add "v0$1" index "$index" mtu "$2" netns "${1}A" type veth \
		peer name "v1$1" index $((index + 1)) mtu "$2" netns "${1}B"
}

cable()
{
	local mtu=4200

	[[ $2 =~ ^(paths-)?([0-9]+)$ ]] && mtu=${BASH_REMATCH[2]}
	driver "$1" && new_hosts "$1" "$2" || return
	if [[ $2 == paths-* ]]; then
		bridged_wire "$1" "$mtu"
	else
		wire "$1" "$mtu"
	fi || return
	host "$1" A 0 && host "$1" B 1 || return
	neighbour "$1" A 0 && neighbour "$1" B 1 || return
	polled "$1" "$2" 2000 || return
	if one_host "$2" && [[ $2 != @(self|polled) ]]; then
		outside "$1" || return
	fi
	[ "$1" = tcp ] || [ "$1" = siw ] || gid_wait "$1" "$2" || return
	case $2 in
	loss) lossy "$1" ;;
	nvme) disk_up "$1" ;;
	esac
}

cut_cable()
{
	local n

	[ "$2" != nvme ] || disk_down "$1"
	polled "$1" "$2" 0
	[ "$1" = tcp ] || for n in 0 1; do
		rdma link del "$1$n" 2>/dev/null ||
			ip netns exec "$1$([ "$n" = 0 ] && echo A || echo B)" \
				rdma link del "$1$n"
	done
	[ "$2" != loss ] || ip -n "${1}B" link del "ifb$1"
	ip -n "${1}A" link del "v0$1"
	ip netns del "${1}A"
	ip netns del "${1}B"
	[[ $2 != paths-* ]] || ip netns del "${1}R"
	# it keeps its port to itself on an old kernel as long as it is there
	[ "$1" != rxe ] || ! one_host "$2" || modprobe -q -r rdma_rxe
	sleep 0.5
}

# gid_wait TYPE SETUP: GID[TYPE] is the index of the address to use, when it is there
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

# port TYPE END LETTER MTU: of the bridge, with the cable to that host.  Packets are
# delayed, queued and lost one by one.
port()
{
	ip link add "v$2$1" mtu "$4" netns "$1$3" type veth \
		peer name "p$2$1" mtu "$4" netns "${1}R" &&
		ip -n "${1}R" link set "p$2$1" master bridge up &&
		apart "$1$3" "v$2$1" && apart "${1}R" "p$2$1"
}

# apart NS DEV: it takes and gives single packets
apart()
{
	ip netns exec "$1" ethtool -K "$2" gro off gso off tso off tx-gso-list off \
		tx-udp-segmentation off >/dev/null
}

# TCP gets as much memory as a long path holds.  The bridge takes what a sender gives
# at once: only the bottleneck has a queue that overflows.
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

# bottleneck NS DEV PARENT RATE QUEUE ECN: QUEUE is bytes.  It sends a third of them at
# once after it could not send at all: the guest may have had no processor.
bottleneck()
{
	local burst=$(($5 / 3)) tc=(ip netns exec "$1" tc qdisc add dev "$2")

	# shellcheck disable=SC2086 # words
	"${tc[@]}" $3 handle 2: tbf rate "$4" limit "$5" \
		burst $((burst < 65536 ? burst : 65536)) || return
	[ -z "$6" ] || "${tc[@]}" parent 2:1 fq_codel flows 1 limit $(($5 / 4200)) \
		target 1s interval 10s ecn ce_threshold 500us
}

# path TYPE WORDS: each direction gets all of them
#   RATE        of the bottleneck: 100mbit, 1gbit
#   Nms         from one end to the other
#   lossP       percent of the packets are lost
#   reorderP    percent of the packets are not delayed
#   Nkb         queue of the bottleneck; else that of one bandwidth-delay product
#   ecn         the bottleneck marks what has queued for 500 us, if it may
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
	queue=${queue:-$((2 * delay * $(bytes_per_ms "$rate")))}
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
# NVMe over Fabrics: a null_blk at the second end, seen at the first one.

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

# disk TYPE: what the host sees; with multipath it stands above its paths
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
