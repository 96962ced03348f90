# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a program that is a server on nsB and a client on nsA; source
# it after netns.sh
#
#   know_each_other          fill the neighbour tables of both hosts
#   between READY SERVER CLIENT   run both successfully; READY is the TCP port on which
#                            the server listens, or cm if it listens by rdma_cm
#   between_for READY SERVER CLIENT   like between, with a server that does not exit
# shellcheck shell=bash

# If ARP is answered at once the RDMA core waits 3 seconds for the answer.
know_each_other()
{
	local a b

	a=$(on nsA cat /sys/class/net/veth0/address) &&
		b=$(on nsB cat /sys/class/net/veth1/address) &&
		on nsA ip neigh replace 10.9.0.2 lladdr "$b" dev veth0 &&
		on nsB ip neigh replace 10.9.0.1 lladdr "$a" dev veth1
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

# serve COMMAND: start it on nsB; not by on(), since it is killed by its process ID
serve()
{
	ip netns exec nsB bounded bash -c "exec $1" &
	server=$!
}

# ask READY COMMAND: run it on nsA, after the server is ready
ask()
{
	wait_for up "$1" && on nsA bounded bash -c "exec $2"
}

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
