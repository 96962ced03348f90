#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's selftests/rdma for rdma_rxe pass with srnic in its place.
#
# KSFT is the kernel's tools/testing/selftests; the lab has a source.  rdma_cm runs
# over a TUN netdev only on devices with the driver id of rdma_rxe, so for links of type
# srnic a veth is in the place of tun0 and tun1.

. "$(dirname "$0")/../lib/ktap.sh"

KSFT=${KSFT:-$(printf '%s\n' \
	"${SRNIC_CACHE:-$HOME/.cache/srnic}"/linux-7*/tools/testing/selftests | tail -n 1)}
[ -e "$KSFT/rdma/rxe_ipv6.sh" ] || skip_all "no kernel source here, say where by KSFT"
need rdma rping ping modinfo

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

without_tun='s/^ip tuntap add mode tun \([^ ]*\)/ip link add \1 type veth/'

# a server starts and ends late on a busy machine
patiently="s/seq 1 50/seq 1 $((10 * KTAP_BOUND))/; s/^sleep 1\>/listens \$!/"
patiently+='; s/^rping -c .* 1\.1\.1\.1 -C 3 .*/&; wait/; s/^rping -c/cm_program &/'

# listens PID: that process accepts requests of rdma_cm, for the scripts
listens()
{
	until nsenter -t "$1" -n rdma resource show cm_id | grep -q 'state LISTEN' && asleep "$1"; do
		sleep 0.1
	done
}
export -f asleep listens

# translate TYPE [SCRIPT-FOR-SED]: each at its own path, for they look for helpers beside
# them
translate()
{
	local script

	mkdir -p "$work/$1/rdma"
	ln -s "$KSFT/kselftest" "$work/$1/kselftest"
	for script in "$KSFT"/rdma/*.sh; do
		sed -e "s/type rxe/type $1/; s/rdma_rxe/srnic/g" -e "$patiently" -e "${2:-}" \
			"$script" >"$work/$1/rdma/${script##*/}"
		chmod +x "$work/$1/rdma/${script##*/}"
	done
}

# run TYPE SCRIPT: a counter that is not there would stay the same, and that would do
run()
{
	(cd "$work/$1/rdma" && bounded bash "./$2") 2>&1 | tee "$work/said"
	((PIPESTATUS[0] == 0)) && ! grep -q 'No such file' "$work/said"
}

translate srnic "$without_tun"
translate srnic_rxe
scripts=$(cd "$work/srnic/rdma" && ls ./*.sh)
ktap_plan $((2 * $(wc -l <<<"$scripts")))
for type in srnic srnic_rxe; do
	for script in $scripts; do
		check "${script#./}, $type"	run "$type" "$script"
	done
done
ktap_end
