#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The selftests run as those of the kernel do: from the tree, or installed, on the
# kernel that is running, and they are skipped where there is nothing to be tested.

. "$(dirname "$0")/../lib/ktap.sh"

selftests=$(cd "$(dirname "$0")/.." && pwd)
KSFT=${KSFT:-$(printf '%s\n' \
	"${SRNIC_CACHE:-$HOME/.cache/srnic}"/linux-7*/tools/testing/selftests | tail -n 1)}
need make gcc modinfo

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# says FILE LINE...: these lines are all that is not a remark
says()
{
	local file=$1

	shift
	diff <(printf '%s\n' "TAP version 13" "$@") <(grep -v '^#' "$file") ||
		{ cat "$file"; return 1; }
}

from_the_tree()
{
	make -s -C "$selftests" run_tests TARGETS=ulp >"$work/out" &&
		says "$work/out" 1..8 "ok 1 selftests: ulp: iser.sh # SKIP" \
			"ok 2 selftests: ulp: kverbs.sh" \
			"ok 3 selftests: ulp: nfs.sh # SKIP" \
			"ok 4 selftests: ulp: nvme.sh # SKIP" \
			"ok 5 selftests: ulp: rds.sh # SKIP" \
			"ok 6 selftests: ulp: rnbd.sh # SKIP" \
			"ok 7 selftests: ulp: smc.sh # SKIP" \
			"ok 8 selftests: ulp: srp.sh # SKIP"
}

one_of_a_folder()
{
	make -s -C "$selftests/netns" run_tests TEST_PROGS=mcast.sh >"$work/out" &&
		says "$work/out" 1..1 "ok 1 selftests: netns: mcast.sh"
}

# install: make need not compile what "make check" has compiled
install()
{
	mkdir -p "$work/here/build"
	cp -a "$selftests"/../build/{hunt,vrb} "$work/here/build" 2>/dev/null
	make -s -C "$selftests" install INSTALL_PATH="$work/here" &&
		diff <("$work/here/run_kselftest.sh" -l) \
			<(make -s -C "$selftests" emit_tests)
}

installed()
{
	"$work/here/run_kselftest.sh" -t netns:mcast.sh -t verbs:data.sh >"$work/out" &&
		says "$work/out" 1..2 "ok 1 selftests: netns: mcast.sh" \
			"ok 2 selftests: verbs: data.sh"
}

without_the_module()
{
	unshare -m sh -c 'mount -t tmpfs none "/lib/modules/$(uname -r)/extra" &&
		exec "$1" -t netns:mcast.sh' - "$work/here/run_kselftest.sh" >"$work/out" &&
		says "$work/out" 1..1 "ok 1 selftests: netns: mcast.sh # SKIP"
}

by_the_kernels_runner()
{
	make -s -C "$selftests/netns" KSFT="$KSFT" run_tests TEST_PROGS=mcast.sh \
		>"$work/out" 2>&1 && grep -x 'ok 1 selftests: .*: mcast.sh' "$work/out"
}

# It ends where the two hosts should come up.
failing()
{
	(cd "$work/here" && sed -i 's/^pair_up()/&\n{ exit 1; }\nnothing()/' lib/netns.sh)
	! "$work/here/run_kselftest.sh" -t netns:mcast.sh >"$work/out" &&
		says "$work/out" 1..1 "not ok 1 selftests: netns: mcast.sh # exit=1"
}

ktap_plan 7
check "a folder, from the tree"			from_the_tree
check "one of a folder"				one_of_a_folder
check "they are installed"			install
check "two of what is installed"		installed
check "skipped where there is no module"	without_the_module
check "one that fails"				failing
if [ -e "$KSFT/lib.mk" ]; then
	check "by the kernel's runner"		by_the_kernels_runner
else
	skip "by the kernel's runner"		"no kernel source here, say where by KSFT"
fi
ktap_end
