#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The IPsec policy of a host applies to RoCE packets, in and out, and with the required states
# all packets on the wire are ESP.
#
#   nsA [sr0] veth0 ======(counted at both ends)====== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/recipe.sh"

need rdma ib_write_bw ib_read_bw ib_send_bw nft ip
need_python pyverbs.qp
ip xfrm policy >/dev/null 2>&1 || skip_all "this kernel has no IPsec"
modprobe -q -a esp4_offload esp6_offload	# GSO chains take another path with them

key_ab=0x$(printf '1a%.0s' {1..20})
key_ba=0x$(printf '2b%.0s' {1..20})

# counted NS DEV: count the packets received there by type
counted()
{
	on "$1" nft -f - <<-EOT
		table netdev wire {
			counter plain { }
			counter sealed { }
			chain in {
				type filter hook ingress device "$2" priority -1;
				udp dport 4791 counter name plain
				meta l4proto 50 counter name sealed
			}
		}
	EOT
}

hosts()
{
	pair_up && counted nsA veth0 && counted nsB veth1
}

seen()
{
	on "$1" nft list counter netdev wire "$2" |
		awk '$1 == "packets" { n = $2 } END { print n + 0 }'
}

new_count()
{
	on nsA nft delete table netdev wire && counted nsA veth0 &&
		on nsB nft delete table netdev wire && counted nsB veth1
}

# wire_had KIND NUMBER: both ends have received at least that many in total; 0: exactly none
wire_had()
{
	local n

	n=$(($(seen nsA "$1") + $(seen nsB "$1")))
	echo "$n packets of $1"
	(($2 ? n >= $2 : n == 0))
}

# family 4|6: set addresses and GID for the following checks
family()
{
	case $1 in
	4) a=10.9.0.1 b=10.9.0.2 any=0.0.0.0/0 pattern='*ffff:0a09:*' ;;
	6) a=fd09::1 b=fd09::2 any=::/0 pattern='fd09:*' ;;
	esac
	gid=$(gid_index nsA sr0 "$pattern")
	[ "$gid" = "$(gid_index nsB sr1 "$pattern")" ]
}

policy()
{
	case $1 in
	nsA) recipe ipsec-policy nsA HERE="$a" PEER="$b" ANY="$any" ;;
	nsB) recipe ipsec-policy nsB HERE="$b" PEER="$a" ANY="$any" ;;
	esac
}

states()
{
	recipe ipsec-state nsA HERE="$a" PEER="$b" SPI_OUT=0x1001 SPI_IN=0x1002 \
		KEY_OUT="$key_ab" KEY_IN="$key_ba" &&
		recipe ipsec-state nsB HERE="$b" PEER="$a" SPI_OUT=0x1002 \
			SPI_IN=0x1001 KEY_OUT="$key_ba" KEY_IN="$key_ab"
}

no_ipsec()
{
	local ns

	for ns in nsA nsB; do
		on "$ns" ip xfrm policy flush && on "$ns" ip xfrm state flush || return
	done
}

# demand_in: nsB accepts only ESP, but may send plain text
demand_in()
{
	on nsB ip xfrm policy add dir in src "$a" dst "$b" proto udp dport 4791 \
		tmpl src "$a" dst "$b" proto esp mode transport level required
}

traffic()
{
	local tool

	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		pair "$tool" -m 2048 -s 65536 -n 50 -u 18 -x "$gid" || return
	done
	pair ib_send_bw -c UD -m 2048 -s 1024 -n 50 -x "$gid"
}

a_write()
{
	pair ib_write_bw -m 2048 -s 65536 -n 50 -x "$gid"
}

refused()
{
	QP_TIMEOUT=8 retries_run_out pair ib_write_bw -m 2048 -n 5 -x "$gid"
}

# nothing_executed COMMAND...: sr1 executes no request during the command
nothing_executed()
{
	local before

	before=$(counter nsB sr1 rcvd_pkts)
	"$@" && counter_is nsB sr1 rcvd_pkts "$before"
}

# one_by_one COMMAND...: sr0 sends no GSO chain during the command
one_by_one()
{
	local before

	before=$(counter nsA sr0 tx_super_skb)
	"$@" && counter_is nsA sr0 tx_super_skb "$before"
}

# of_one_port: a policy for a source port blocks the second of two datagrams that a queue pair
# sends by one address handle
of_one_port()
{
	# shellcheck disable=SC2154 # netns.sh says where
	PYTHONPATH=$selftests/lib ip netns exec nsA /usr/bin/python3 - <<-EOT
		from lone import SGE, Lone, SendWR, counter, run
		from pyverbs.addr import AH

		def port(qpn):
		    v = lone.qpn * qpn
		    v ^= v >> 20
		    v = (v ^ v >> 40) & 0xfffff
		    return (v & 0x3fff ^ v >> 14) | 0xc000

		def send(qpn):
		    wr = SendWR(num_sge=1, sg=[SGE(lone.addr, 64, lone.mr.lkey)])
		    wr.set_wr_ud(ah, qpn, 0x11111111)
		    lone.qp.post_send(wr)
		    return counter("sr0", "send_err")

		with Lone("sr0", "10.9.0.1", "10.9.0.2", kind="UD").up() as lone, \
		        AH(lone.pd, attr=lone.path()) as ah:
		    second = next(n for n in range(1001, 2000) if port(n) != port(1000))
		    run("ip", "xfrm", "policy", "add", "dir", "out", "src", "10.9.0.1",
		        "dst", "10.9.0.2", "proto", "udp", "sport", str(port(second)),
		        "dport", "4791", "action", "block")
		    before = send(1000)
		    assert send(1000) == before
		    assert send(second) == before + 1
	EOT
}

ktap_plan $((2 + 2 * 17))
check "two hosts"				hosts
for v in 4 6; do
	check "IPv$v: addresses"		family "$v"
	check "IPv$v: counted anew"		new_count
	check "IPv$v: traffic"			a_write
	check "IPv$v: plain text on the wire"	wire_had plain 100
	check "IPv$v: no ESP"			wire_had sealed 0
	check "IPv$v: in: demanded by sr1"	demand_in
	check "IPv$v: in: nothing is executed"	nothing_executed refused
	check "IPv$v: no policy"		no_ipsec
	check "IPv$v: out: policy at sr0"	policy nsA
	check "IPv$v: out: counted anew"	new_count
	check "IPv$v: out: nothing gets through"	refused
	check "IPv$v: out: no plain text on the wire"	wire_had plain 0
	check "IPv$v: policy on both, states"	eval 'policy nsB && states && new_count'
	check "IPv$v: traffic works, without chains" one_by_one traffic
	check "IPv$v: ESP on the wire"		wire_had sealed 100
	check "IPv$v: no plain text on the wire"	wire_had plain 0
	check "IPv$v: without IPsec again"	eval 'no_ipsec && a_write'
done
check "a policy for a source port"		of_one_port
ktap_end
