#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio's rdma engine moves data by WRITE, READ and SEND, and each byte arrives: on a wire that loses
# packets, too.  Traffic goes on after the wire was cut, and an end is told that the other died.
#
#   client [sr0] veth0 ================ veth1 [sr1] server
#
# Both have their buffers in files, which are compared block by block: fio before 3.34 chooses the
# server's buffer at random, so a block of the client can be in any of them.
#
# run: fio, engine rdma | fio
#   | module rdma_ucm; a server whose ``iodepth`` and ``bs`` are no smaller than the client's, for
#   SENDs at least the number of messages, as RNR is not retried
#   | ``fio --name=server --ioengine=rdma --port=4444 --rw=read --bs=64k --size=1g``; on the other
#   host ``fio --name=client --ioengine=rdma --hostname=10.9.0.2 --port=4444 --verb=write
#   --rw=write --bs=64k --size=1g``

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/peers.sh"
. "$selftests/lib/wire.sh"

# verb, size of a block, blocks
jobs=(
	"write 4096 1"
	"write 1048576 1"
	"write 65536 32"
	"write 5000 64"
	"read 4096 1"
	"read 1048576 1"
	"read 65536 32"
	"read 5000 64"
	"send 64 256"
	"send 4096 1"
	"send 1048576 4"
	"send 65536 32"
	"send 5000 64"
)

need rdma fio tc ethtool
fio --enghelp=rdma 2>/dev/null | grep -q hostname || skip_all "fio has no engine rdma"

dir=$(mktemp -d)
client=	# process IDs
server=
server_options=()

# end NAME NS SIZE BLOCKS OPTION...: run it, in place of this process; one that can be killed
end()
{
	exec ip netns exec "$2" fio --name="$1" --ioengine=rdma --port=4444 --bs="$3" \
		--iodepth="$4" --size=$(($3 * $4)) --mem="mmapshared:$dir/$1" \
		--verify_state_save=0 --thread --eta=never "${@:5}" >"$dir/$1.log" 2>&1
}

# begin VERB SIZE BLOCKS [OPTION...]: start both; OPTIONs are the client's
begin()
{
	local name

	for name in server client; do
		head -c $(($2 * $3)) /dev/urandom >"$dir/$name" || return
	done
	cp "$dir/server" "$dir/before"
	end server nsB "$2" "$3" --rw=read "${server_options[@]}" &
	server=$!
	wait_for up cm || return
	end client nsA "$2" "$3" --rw=write --hostname=10.9.0.2 --verb="$1" "${@:4}" &
	client=$!
}

# said STATUS: the client has printed it, and waits for ever
said()
{
	grep "completion status $1" "$dir/client.log"
}

client_is_done()
{
	ended "$client" || said .
}

ends()
{
	kill -9 $server $client
	wait $server $client
	server='' client=''
} 2>/dev/null

# succeeds VERB...: both ends exit successfully.  They begin again if the server was so slow that
# a SEND found no receive, which its first receives need not be in time for.
succeeds()
{
	local _

	for _ in {1..10}; do
		ends
		begin "$@" && wait_for client_is_done || break
		said 13 || break
	done
	! said . && wait_for ended "$server" && wait "$client" && wait "$server" && return
	cat "$dir"/*.log
	return 1
}

# blocks FILE SIZE: a line for each block
blocks()
{
	split -b "$2" --filter=md5sum "$dir/$1" | sort
}

# in_common FILE FILE SIZE: print how many blocks of the first are in the second
in_common()
{
	grep -cxFf <(blocks "$2" "$3") <(blocks "$1" "$3")
}

# arrived VERB SIZE BLOCKS
arrived()
{
	case $1 in
	write) (($(in_common client server "$2") > 0)) &&
		cat "$dir"/{client,before} >"$dir/known" &&
		(($(in_common server known "$2") == $3)) ;;
	read) (($(in_common client server "$2") == $3)) ;;
	send) cmp <(blocks client "$2") <(blocks server "$2") ;;
	esac
}

# moves VERB SIZE BLOCKS
moves()
{
	succeeds "$@" && arrived "$@"
}

# verified SIZE BLOCKS: fio's checksums in SENDs
verified()
{
	local server_options=(--verify=crc32c --verify_fatal=1)

	succeeds send "$@" --verify=crc32c --do_verify=0
}

# flows: the client goes on
flows()
{
	wait_for counter_over nsA sr0 sent_pkts $(($(counter nsA sr0 sent_pkts) + 100))
}

endless()
{
	ends
	begin write 65536 8 --time_based --runtime=1d && flows
}

outlasts_cut()
{
	endless && wire_cut && wire_joined && flows
}

# fio waits for completions alone, so the server does not notice that the client is gone
client_dies()
{
	kill -9 "$client"
	ends
	moves write 65536 32
}

# The server's memory may be deregistered before its queue pair is destroyed: the client is told
# either of a remote access error or that the retries are exhausted.
server_dies()
{
	endless && kill -9 "$server" && wait_for said '1[02]' && return
	cat "$dir"/*.log
	return 1
}

trap 'ends; pair_down; rm -r "$dir"' EXIT

ktap_plan $((${#jobs[@]} + 16))
check "two hosts"				hosts_up
for job in "${jobs[@]}"; do
	# shellcheck disable=SC2086 # its words
	check "$job"				moves $job
done
check "send with checksums"			verified 4096 64
check "bytes crossed"				crossed nsB sr1 10000000
check "in the other direction, too"		crossed nsA sr0 3000000
check_srnic "by WRITEs"				counter_over nsB sr1 rx_write_requests 90
check_srnic "and READs"				counter_over nsB sr1 rx_read_requests 90
check "one packet in a hundred is lost"		netem nsA veth0 loss 1%
check "in the other direction, too"		netem nsB veth1 loss 1%
check "write over that wire"			moves write 65536 64
check "read over that wire"			moves read 65536 64
check "send over that wire"			moves send 65536 64
check_srnic "packets were sent again"		counter_over nsA sr0 retrans_pkts 0
check "the wire loses nothing again"		clear_wire
check "the wire is cut"				outlasts_cut
check "the client dies"				client_dies
check "the server dies"				server_dies
ends
ktap_end
