#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the kernel's selftests/rdma ask of rdma_rxe, with srnic in its place.
#
# KSFT is the kernel's tools/testing/selftests; the lab has a source.  rdma_cm runs
# over a TUN netdev for rdma_rxe alone, so a veth is in the place of tun0 and tun1.

. "$(dirname "$0")/../lib/ktap.sh"

KSFT=${KSFT:-$(printf '%s\n' \
	"${SRNIC_CACHE:-$HOME/.cache/srnic}"/linux-7*/tools/testing/selftests | tail -n 1)}
[ -e "$KSFT/rdma/rxe_ipv6.sh" ] || skip_all "no kernel source here, say where by KSFT"
need rdma rping ping modinfo

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each at its own path, for they look for helpers beside them.
mkdir -p "$work/rdma"
ln -s "$KSFT/kselftest" "$work/kselftest"
for script in "$KSFT"/rdma/*.sh; do
	sed -e 's/type rxe/type srnic/; s/rdma_rxe/srnic/g' \
		-e 's/^ip tuntap add mode tun \([^ ]*\)/ip link add \1 type veth/' \
		"$script" >"$work/rdma/${script##*/}"
	chmod +x "$work/rdma/${script##*/}"
done

# run SCRIPT: a counter that is not there would stay the same, and that would do
run()
{
	(cd "$work/rdma" && timeout 60 bash "./$1") 2>&1 | tee "$work/said"
	((PIPESTATUS[0] == 0)) && ! grep -q 'No such file' "$work/said"
}

scripts=$(cd "$work/rdma" && ls ./*.sh)
ktap_plan "$(wc -l <<<"$scripts")"
for script in $scripts; do
	check "${script#./}"	run "$script"
done
ktap_end
