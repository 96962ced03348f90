#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic - RDMA between two hosts connected by a veth cable
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB
#
# TYPE=rxe shows the same with the kernel's soft RoCE.

fail()
{
	echo "demo: $*" >&2
	exit 1
}

# taken: print what has a name that the demo would create and delete
taken()
{
	local name

	for name in nsA nsB; do
		[ ! -e "/run/netns/$name" ] ||
			echo "network namespace $name (ip netns del $name)"
	done
	for name in sr0 sr1; do
		[ ! -e "/sys/class/infiniband/$name" ] ||
			echo "RDMA device $name (rdma link del $name)"
	done
}

# netns.sh deletes these when it starts and when it ends, whoever created them.
taken=$(taken)
[ -z "$taken" ] || fail "in use, delete or rename first: ${taken//$'\n'/, }"

. "$(dirname "$0")/lib/netns.sh" >/dev/null

title()
{
	printf "\n== %s\n" "$*"
}

# figure COLUMN: print that column of a perftest's line of numbers
figure()
{
	awk -v c="$1" '/^ *[0-9]+ +[0-9]+ +[0-9.]+ /{ print $c }' "$2" | tail -n 1
}

# machine: describe the kernel, and whether its figures are meaningful
machine()
{
	case ${SRNIC_KERNEL:-host} in
	host) echo "kernel $(uname -r), the one that is running" ;;
	uml*) echo "kernel $(uname -r), user-mode Linux: system calls are slow there" ;;
	*)
		if grep -q 'QEMU TCG' /proc/cpuinfo; then
			echo "kernel $(uname -r), emulated: its figures say nothing about speed"
		else
			echo "kernel $(uname -r), in QEMU by KVM"
		fi
		;;
	esac
}

title "Two hosts, a cable of MTU 4200, and a link of type $TYPE on each"
pair_up 4200 || fail "could not set up the two hosts"
on nsA rdma link show sr0/1
on nsB rdma link show sr1/1

title "What verbs see"
on nsA ibv_devinfo -d sr0 |
	grep -E 'hca_id|transport|fw_ver|node_guid|state|active_mtu|link_layer'

out=$(mktemp)
title "ib_write_bw, 64 KiB messages"
pair ib_write_bw -s 65536 >"$out" 2>&1 || { cat "$out"; fail "ib_write_bw failed"; }
grep -A1 '#bytes' "$out"
bandwidth=$(figure 4 "$out")

title "ib_send_lat, 8 bytes"
pair ib_send_lat -s 8 >"$out" 2>&1 || { cat "$out"; fail "ib_send_lat failed"; }
grep -A1 '#bytes' "$out"
latency=$(figure 5 "$out")
rm "$out"

title "rdma statistic, what is not zero"
for end in nsA/sr0 nsB/sr1; do
	on "${end%/*}" rdma statistic show link "${end#*/}/1" | awk '{
		printf "%s %s", $1, $2
		for (i = 3; i < NF; i += 2)
			if ($(i + 1))
				printf " %s %s", $i, $(i + 1)
		print ""
	}' | fold -s -w 78
done

title "Summary"
machine
echo "$TYPE: write $bandwidth MiB/s, send latency $latency us (typical)"
