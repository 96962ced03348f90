# SPDX-License-Identifier: GPL-2.0
# srnic selftests - sockets of SMC-R, version 2; source it after peers.sh
#
#   smc_needed               skip the script if something is missing
#   $smc COMMAND...          ulp/smc.py
#   smc_up                   load SMC, with an identifier that both ends have
#   smc_stat NS NAME         print a statistic
#   stat_is NS NAME VALUE    it has that value
# shellcheck shell=bash

# shellcheck disable=SC2154 # of netns.sh
smc="/usr/bin/python3 $selftests/ulp/smc.py"

smc_needed()
{
	need rdma python3 tc ethtool
	modinfo smc >/dev/null 2>&1 || skip_all "no smc"
	! grep -q '^smc ' /proc/modules || skip_all "SMC is in use here"
}

smc_up()
{
	modprobe smc && $smc ueid
}

smc_stat()
{
	on "$1" bash -c "exec $smc stats" | awk -v name="$2" '$1 == name { print $2 }'
}

stat_is()
{
	local now

	now=$(smc_stat "$1" "$2")
	[ "$now" = "$3" ] || { echo "$2 is $now, not $3"; on "$1" bash -c "$smc stats"; return 1; }
}
