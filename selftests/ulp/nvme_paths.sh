#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A disk of NVMe over Fabrics with two paths uses the one that its target prefers (ANA), and
# another one where that is cut or resets; a host that waits for no answer finds the cut by
# keep-alive; and only a host with the right secret is let in.
#
#        [sr0] veth0 ================ veth1 [sr1]
#   host                                          target with a disk in memory
#        [sr2] veth2 ================ veth3 [sr3]
#
# run: NVMe over Fabrics, several paths and authentication | linux nvme-cli
#   | modules nvme-rdma and nvmet-rdma, with NVME_MULTIPATH, NVME_HOST_AUTH and NVME_TARGET_AUTH;
#   the initial network namespace
#   | ``nvme connect -t rdma -a 10.9.0.2 -s 4420 -n NQN --dhchap-secret KEY``, for each address of
#   the target

. "$(dirname "$0")/../lib/netns.sh"
# shellcheck disable=SC2154 # netns.sh says where the selftests are
. "$selftests/lib/self.sh"
. "$selftests/lib/disk.sh"
. "$selftests/lib/nvme.sh"

# authenticates: the kernel's target has secrets of hosts
authenticates()
{
	# shellcheck disable=SC2154 # of nvme.sh
	mkdir "$nvmet/hosts/srnic" && [ -e "$nvmet/hosts/srnic/dhchap_key" ] &&
		rmdir "$nvmet/hosts/srnic"
}

need rdma nvme fio tc ethtool
modprobe -q null_blk nr_devices=0 || skip_all "no null_blk"
modprobe -q nvmet-rdma || skip_all "no nvmet-rdma"
modprobe -q nvme-rdma || skip_all "no nvme-rdma"
[ "$(cat /sys/module/nvme_core/parameters/multipath 2>/dev/null)" = Y ] ||
	skip_all "no multipath"

modprobe -q dh_generic	# the names of its groups are not those of modules
nvme gen-dhchap-key >/dev/null 2>&1 || skip_all "nvme makes no secrets"
authenticates || skip_all "the target knows no authentication"

# shellcheck disable=SC2154 # of nvme.sh
host=nqn.2014-08.org.nvmexpress:uuid:$uuid
# of the second wire
self_rules+=(
	"priority 1 iif veth2 lookup local"
	"priority 1 iif veth3 lookup local"
	"priority 2 to 10.9.1.2 lookup 904"
	"priority 2 to 10.9.1.1 lookup 903"
)

# second_end NETDEV LINK NUMBER
second_end()
{
	ip -batch - <<-EOT && link_add nsA "$2" "$1" "$TYPE"
		addr add 10.9.1.$3/24 dev $1
		addr add fd09:1::$3/64 dev $1 nodad
		link set $1 up
	EOT
}

second_wire()
{
	ip link add veth2 mtu 4200 type veth peer name veth3 mtu 4200 &&
		second_end veth2 sr2 1 && second_end veth3 sr3 2 &&
		self_route veth2 10.9.1.1 904 veth3 10.9.1.2 &&
		self_route veth3 10.9.1.2 903 veth2 10.9.1.1 &&
		wait_for gid_ready nsA sr2 && wait_for gid_ready nsA sr3 &&
		objects_before=$(objects)
}

second_down()
{
	rdma link del sr2
	rdma link del sr3
	ip link del veth2
}

# two_ports: with the state of the disk on each, since a host has to know of them first
two_ports()
{
	nvmet_up /dev/srnic && nvmet_port_up 1 10.9.0.2 && nvmet_port_up 2 10.9.1.2
}

no_ports()
{
	nvmet_port_down 1 && nvmet_port_down 2 && nvmet_down
}

# connect ADDRESS [ARGUMENT...]
connect()
{
	bounded nvme connect -t rdma -a "$1" -s 4420 -n srnic -i 2 -k 1 \
		--reconnect-delay 1 --ctrl-loss-tmo -1 \
		--hostnqn "$host" --hostid "$uuid" "${@:2}"
}

disconnect()
{
	bounded nvme disconnect -n srnic && wait_for fails remote
}

# controller ADDRESS: print its name
controller()
{
	local address

	address=$(grep -lw "traddr=$1" /sys/class/nvme/*/address) && basename "${address%/*}"
}

# state_is ADDRESS STATE
state_is()
{
	[ "$(cat "/sys/class/nvme/$(controller "$1")/state")" = "$2" ]
}

both_live()
{
	state_is 10.9.0.2 live && state_is 10.9.1.2 live
}

connect_both()
{
	connect 10.9.0.2 && connect 10.9.1.2 && wait_for both_live && wait_for remote
}

# prefers STATE STATE: of the disk, on each of the ports
prefers()
{
	put "$1" "$nvmet/ports/1/ana_groups/1/ana_state" &&
		put "$2" "$nvmet/ports/2/ana_groups/1/ana_state" &&
		wait_for ana_is 10.9.0.2 "$1" && wait_for ana_is 10.9.1.2 "$2"
}

# ana_is ADDRESS STATE: the host knows it
ana_is()
{
	[ "$(cat "/sys/class/nvme/$(controller "$1")"/nvme*n1/ana_state)" = "$2" ]
}

# flows DEV: data arrive there
flows()
{
	local before

	before=$(counter nsB "$1" rcvd_pkts) &&
		wait_for counter_over nsB "$1" rcvd_pkts $((before + 1000))
}

# took DEV OTHER: 4 MiB are written by way of DEV, and not of OTHER
took()
{
	local before other

	before=$(counter nsB "$1" rcvd_pkts) && other=$(counter nsB "$2" rcvd_pkts) &&
		fio_remote write 64k 4 4m || return
	counter_over nsB "$1" rcvd_pkts $((before + 900)) &&
		fails counter_over nsB "$2" rcvd_pkts $((other + 900))
}

# under_load COMMAND...
under_load()
{
	load_begins "$(remote)" && "$@" && load_ends
}

swap()
{
	prefers inaccessible optimized && prefers optimized inaccessible &&
		prefers inaccessible optimized
}

first_cut()
{
	wire_cut && wait_for fails state_is 10.9.0.2 live && flows sr3 &&
		wire_joined && wait_for both_live
}

reset_both()
{
	local address

	for address in 10.9.0.2 10.9.1.2 10.9.0.2 10.9.1.2; do
		bounded nvme reset "/dev/$(controller "$address")" &&
			wait_for both_live || return
	done
}

# kept_alive: without requests
kept_alive()
{
	wire_cut && wait_for state_is 10.9.0.2 connecting && wire_joined &&
		wait_for state_is 10.9.0.2 live
}

# secret HMAC: print one
secret()
{
	nvme gen-dhchap-key --hmac "$1" --nqn "$host"
}

# lock_up: only that host, with these secrets of its own and of the target
lock_up()
{
	mkdir "$nvmet/hosts/$host" &&
		put "$1" "$nvmet/hosts/$host/dhchap_key" &&
		put "$2" "$nvmet/hosts/$host/dhchap_ctrl_key" &&
		put "hmac(sha384)" "$nvmet/hosts/$host/dhchap_hash" &&
		put ffdhe2048 "$nvmet/hosts/$host/dhchap_dhgroup" &&
		put 0 "$nvmet/subsystems/srnic/attr_allow_any_host" &&
		ln -s "$nvmet/hosts/$host" "$nvmet/subsystems/srnic/allowed_hosts/"
}

unlock()
{
	rm "$nvmet/subsystems/srnic/allowed_hosts/$host" && rmdir "$nvmet/hosts/$host"
}

let_in()
{
	connect 10.9.0.2 "$@" && wait_for remote && fio_remote write 64k 4 1m && disconnect
}

all_down()
{
	nvme disconnect -n srnic
	second_down
	self_down
	unlock
	no_ports
	disk_down
	modprobe -r nvme-rdma
	modprobe -r nvmet-rdma
} >/dev/null 2>&1

trap all_down EXIT

ktap_plan 23
check "two devices and a wire"		self_up
check "two more"			second_wire
check "a disk in memory"		disk_up
check "a target with two ports"		two_ports
check "connect by both"			connect_both
check "the first path is preferred"	prefers optimized inaccessible
check "data take it"			took sr1 sr3
check "the second path is preferred"	prefers inaccessible optimized
check "data take that one"		took sr3 sr1
check "they swap under load"		under_load swap
check "both are as good"		prefers optimized optimized
check "one wire is cut under load"	under_load first_cut
check "both reset under load"		under_load reset_both
check "keep-alive finds the cut"	kept_alive
check "data once more"			fio_remote randwrite 4k 32 2m
check "disconnect"			disconnect

key=$(secret 0) other=$(secret 0) target=$(secret 1)
check "the target wants secrets"	lock_up "$key" "$target"
check "no secret"			fails connect 10.9.0.2
check "a wrong secret"			fails connect 10.9.0.2 --dhchap-secret "$other"
check "the right secret"		let_in --dhchap-secret "$key"
check "the secrets of both"		let_in --dhchap-secret "$key" \
	--dhchap-ctrl-secret "$target"
check "a wrong one of the target"	fails connect 10.9.0.2 --dhchap-secret "$key" \
	--dhchap-ctrl-secret "$other"
check "the target is removed"		eval "unlock && no_ports"
ktap_end
