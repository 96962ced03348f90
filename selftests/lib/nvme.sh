# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a target of NVMe over Fabrics, and its disk on the host; source it after
# disk.sh
#
#   nvmet_up, nvmet_down     the subsystem srnic, with the disk /dev/srnic
#   nvmet_port_up PORT ADDRESS   it is reached there; nvmet_port_down PORT
#   remote                   print the disk on the host
# shellcheck shell=bash

nvmet=/sys/kernel/config/nvmet
nvmet_subsystem=$nvmet/subsystems/srnic

nvmet_up()
{
	local namespace=$nvmet_subsystem/namespaces/1

	mkdir "$nvmet_subsystem" "$namespace" &&
		put 1 "$nvmet_subsystem/attr_allow_any_host" &&
		put /dev/srnic "$namespace/device_path" && put 1 "$namespace/enable"
}

nvmet_down()
{
	local namespace=$nvmet_subsystem/namespaces/1

	put 0 "$namespace/enable" && rmdir "$namespace" "$nvmet_subsystem"
}

nvmet_port_up()
{
	local port=$nvmet/ports/$1

	mkdir "$port" &&
		put rdma "$port/addr_trtype" && put ipv4 "$port/addr_adrfam" &&
		put "$2" "$port/addr_traddr" && put 4420 "$port/addr_trsvcid" &&
		ln -s "$nvmet_subsystem" "$port/subsystems/"
}

nvmet_port_down()
{
	rm "$nvmet/ports/$1/subsystems/srnic" && rmdir "$nvmet/ports/$1"
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
