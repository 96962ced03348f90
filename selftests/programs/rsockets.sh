#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs for TCP use rsockets unmodified, by the preload library of librdmacm, and each byte
# arrives: on a wire that loses packets, too, and after the wire was cut.  An end that sends notices
# that the other one died.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# ssh and sshd cannot have an rsocket themselves: they wait by ppoll(), which that library lacks in
# rdma-core 44, and sshd gives its socket to another process.  They talk through a netcat each.
#
# run: rsockets by preload: iperf, netcat, and ssh and scp through netcat
#   | librdmacm1 iperf netcat-traditional openssh-server
#   | module rdma_ucm; librspreload.so at both ends.  Not for programs that use accept4() or ppoll()
#   with rdma-core 44 or that give a socket to another process: netcat-openbsd, ssh, sshd.  iperf3
#   receives nothing, on srnic as on rdma_rxe
#   | ``LD_PRELOAD=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so iperf -c 10.9.0.2``; on the
#   other host ``iperf -s``, likewise

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/wire.sh"

PORT=2222
SIZE=8000001

need rdma iperf nc.traditional ssh scp sshd ssh-keygen tc ethtool nft
preload=$(find /usr/lib -name librspreload.so -print -quit 2>/dev/null)
[ -n "$preload" ] || skip_all "librdmacm has no librspreload.so"
getent passwd sshd >/dev/null || skip_all "there is no user sshd"

dir=$(mktemp -d)
client=	# process IDs
server=

# by_rsockets NS COMMAND...: run it there, in place of this process
by_rsockets()
{
	exec ip netns exec "$1" env LD_PRELOAD="$preload" "${@:2}"
}

listen=(nc.traditional -l -p "$PORT" -s 10.9.0.2)
connect=(nc.traditional 10.9.0.2 "$PORT")
send=(-q 0)	# the end of the input ends the connection

# send_begins: the data to the server
send_begins()
{
	by_rsockets nsB "${listen[@]}" </dev/null >"$dir/to" &
	server=$!
	wait_for cm_listens nsB || return
	by_rsockets nsA "${connect[@]}" "${send[@]}" <"$dir/data" &
	client=$!
}

receive_begins()
{
	by_rsockets nsB "${listen[@]}" "${send[@]}" <"$dir/data" &
	server=$!
	wait_for cm_listens nsB || return
	by_rsockets nsA "${connect[@]}" </dev/null >"$dir/from" &
	client=$!
}

# done_well: both succeed
done_well()
{
	wait_for ended "$client" && wait "$client" && wait_for ended "$server" && wait "$server"
}

ends()
{
	kill -9 $client $server
	wait $client $server
} 2>/dev/null

files()
{
	head -c "$SIZE" /dev/urandom >"$dir/data" &&
		ssh-keygen -q -t ed25519 -N "" -f "$dir/key" && mkdir -p /run/sshd
}

sends()
{
	send_begins && done_well && cmp "$dir/data" "$dir/to"
}

receives()
{
	receive_begins && done_well && cmp "$dir/data" "$dir/from"
}

# flows FLOWS: iperf's server does not end by itself
flows()
{
	local status=0

	by_rsockets nsB iperf -s >/dev/null 2>&1 &
	server=$!
	wait_for cm_listens nsB && on nsA bounded env LD_PRELOAD="$preload" \
		iperf -c 10.9.0.2 -P "$1" -n 4m || status=$?
	dismiss
	return "$status"
}

# shell: sshd for one connection
shell()
{
	rm -f "$dir/answers"
	mkfifo "$dir/answers" || return
	(by_rsockets nsB "${listen[@]}" "${send[@]}" <"$dir/answers") |
		"$(type -P sshd)" -i -e -f /dev/null -h "$dir/key" -o UsePAM=no -o StrictModes=no \
			-o "AuthorizedKeysFile=$dir/key.pub" -o PermitRootLogin=yes \
			-o "Subsystem=sftp internal-sftp" >"$dir/answers" 2>"$dir/sshd.log" &
	server=$!
	wait_for cm_listens nsB
}

# through PROGRAM ARGUMENT...: ssh or scp
through()
{
	shell && on nsA bounded "$1" -F /dev/null -i "$dir/key" -o StrictHostKeyChecking=no \
		-o UserKnownHostsFile=/dev/null -o BatchMode=yes \
		-o "ProxyCommand=env LD_PRELOAD=$preload ${connect[*]} ${send[*]}" "${@:2}" &&
		wait_for ended "$server" && return
	cat "$dir/sshd.log"
	ends
	return 1
}

runs()
{
	[ "$(through ssh root@10.9.0.2 cksum <"$dir/data")" = "$(cksum <"$dir/data")" ]
}

copies_there()
{
	through scp "$dir/data" "root@10.9.0.2:$dir/copy" && cmp "$dir/data" "$dir/copy"
}

copies_back()
{
	through scp "root@10.9.0.2:$dir/data" "$dir/back" && cmp "$dir/data" "$dir/back"
}

# halfway: the client's packets no longer arrive
halfway()
{
	drop_nth nsA veth0 200 999999999 && send_begins && wait_for wire_stalled
}

outlasts_cut()
{
	halfway && wire_cut && clear_wire && wire_joined && done_well && cmp "$dir/data" "$dir/to"
}

server_dies()
{
	halfway && kill -9 "$server" && clear_wire && wait_for ended "$client"
}

# client_dies: a server that only receives is not told, on rdma_rxe neither
client_dies()
{
	halfway && kill -9 "$client" && clear_wire
	ends
	sends
}

trap 'ends; pair_down; rm -r "$dir"' EXIT

ktap_plan 21
check "two hosts"				hosts_up
check "data and a key"				files
check "iperf"					flows 1
check "iperf with three flows"			flows 3
check "netcat, to the server"			sends
check "netcat, from the server"			receives
check "ssh"					runs
check "scp to the server"			copies_there
check "scp from the server"			copies_back
check "all of that crossed"			crossed nsB sr1 $((3 * SIZE + 16000000))
check "in the other direction, too"		crossed nsA sr0 $((2 * SIZE))
check "one packet in a hundred is lost"		netem nsA veth0 loss 1%
check "in the other direction, too"		netem nsB veth1 loss 1%
check "netcat over that wire"			sends
check "scp over that wire"			copies_back
check_srnic "packets were sent again"		counter_over nsA sr0 retrans_pkts 0
check "the wire loses nothing again"		clear_wire
check "the wire is cut"				outlasts_cut
check "the server dies"				server_dies
check "the client dies"				client_dies
check "iperf again"				flows 1
ktap_end
