# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a program that is a server on nsB and a client on nsA; source
# it after netns.sh
#
#   know_each_other          who asks for an address gets no answer too early
#   between READY SERVER CLIENT   both end well; READY is the TCP port that tells
#                            that the server is up, or cm: it listens by rdma_cm
#   between_for READY SERVER CLIENT   the same with a server that does not end
# shellcheck shell=bash

# When the answer to ARP comes at once the RDMA core waits 3 seconds for it.
know_each_other()
{
	local a b

	a=$(on nsA cat /sys/class/net/veth0/address) &&
		b=$(on nsB cat /sys/class/net/veth1/address) &&
		ip -n nsA neigh replace 10.9.0.2 lladdr "$b" dev veth0 &&
		ip -n nsB neigh replace 10.9.0.1 lladdr "$a" dev veth1
}

hosts_up()
{
	pair_up "$@" && know_each_other
}

# up READY
up()
{
	if [ "$1" = cm ]; then
		cm_listens nsB
	else
		listening nsB "$1"
	fi
}

# serve COMMAND: on nsB; not by on(), since it is killed by its number
serve()
{
	ip netns exec nsB timeout -k 1 60 bash -c "exec $1" &
	server=$!
}

# ask READY COMMAND: on nsA, when the server is up
ask()
{
	wait_for 20 up "$1" && on nsA timeout -k 1 60 bash -c "exec $2"
}

# dismiss: the server is not needed any more
dismiss()
{
	kill "$server"
	wait "$server"
} 2>/dev/null

between_for()
{
	local server status=0

	serve "$2"
	ask "$1" "$3" || status=$?
	dismiss
	return "$status"
}

between()
{
	local server status=0

	serve "$2"
	ask "$1" "$3" || status=$?
	if ((status == 0)); then
		wait "$server" || status=$?
	else
		dismiss
	fi
	return "$status"
}
