# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a disk of NVMe over RDMA; source it after self.sh and disk.sh
#
#   nvmet_up DISK [ATTRIBUTE...]   the subsystem srnic of a target, with that disk; each attribute
#                                  is set to 1
#   nvmet_port_up PORT ADDRESS [ATTRIBUTE...]   it is reached there
#   nvmet_down, nvmet_port_down PORT
#   target_up DISK [ATTRIBUTE...]  both, on sr1
#   target_down
#   target_goes                    the port is removed with its link
#   connect, disconnect            the host, on sr0
#   remote                         print the host's disk
# shellcheck shell=bash

uuid=6fc1b1b4-0000-4000-8000-000000000001
nvmet=/sys/kernel/config/nvmet
nvmet_subsystem=$nvmet/subsystems/srnic

nvmet_up()
{
	local attribute disk=$1 namespace=$nvmet_subsystem/namespaces/1

	shift
	mkdir "$nvmet_subsystem" && put 1 "$nvmet_subsystem/attr_allow_any_host" || return
	for attribute; do
		put 1 "$nvmet_subsystem/attr_$attribute" || return
	done
	mkdir "$namespace" && put "$disk" "$namespace/device_path" && put 1 "$namespace/enable"
}

nvmet_down()
{
	local namespace=$nvmet_subsystem/namespaces/1

	put 0 "$namespace/enable" && rmdir "$namespace" "$nvmet_subsystem"
}

nvmet_port_up()
{
	local attribute port=$nvmet/ports/$1 address=$2

	shift 2
	mkdir "$port" || return
	for attribute; do
		put 1 "$port/param_$attribute" || return
	done
	put rdma "$port/addr_trtype" && put ipv4 "$port/addr_adrfam" &&
		put "$address" "$port/addr_traddr" && put 4420 "$port/addr_trsvcid" &&
		ln -s "$nvmet_subsystem" "$port/subsystems/"
}

nvmet_port_down()
{
	rm "$nvmet/ports/$1/subsystems/srnic" && rmdir "$nvmet/ports/$1"
}

target_up()
{
	nvmet_up "$@" && nvmet_port_up 1 10.9.0.2 "${@:2}"
}

target_down()
{
	nvmet_port_down 1 && nvmet_down
}

# link_goes DEV: remove it after the objects that depend on it
link_goes()
{
	bounded rdma link del "$1" || return
	objects_before=$(sed "/^$1:/d" <<<"$objects_before")
}

# target_goes: the port is removed with its link, before it is disabled.  Disabling a
# listening port while a peer connects draws a lockdep complaint about nvmet.
target_goes()
{
	link_goes sr1 && target_down
}

# With multipath, the disk is the one above its paths.
remote()
{
	local name path

	for path in /sys/class/nvme/nvme*/nvme*n1; do
		[ "$(cat "${path%/*}/transport" 2>/dev/null)" = rdma ] || continue
		name=$(sed -E 's/c[0-9]+n/n/' <<<"${path##*/}")
		[ -b "/dev/$name" ] && echo "/dev/$name" && return
	done
	return 1
}

no_remote()
{
	! remote
}

# Where the target is gone, the host is not to try again meanwhile.
connect()
{
	bounded nvme connect -t rdma -a 10.9.0.2 -s 4420 -n srnic -i 2 -k 120 \
		--reconnect-delay 600 \
		--hostnqn "nqn.2014-08.org.nvmexpress:uuid:$uuid" \
		--hostid "$uuid" &&
		wait_for remote
}

disconnect()
{
	bounded nvme disconnect -n srnic && wait_for no_remote
}
