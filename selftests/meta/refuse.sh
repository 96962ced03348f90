#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# If srnic cannot be built for a kernel, make says what the kernel lacks in one sentence, and
# compiles nothing.
# usage: selftests/meta/refuse.sh
#
# Uses a kernel in the lab's cache, with the feature removed.

HERE=$(dirname "$(readlink -f "$0")")
. "$HERE/../lib/ktap.sh"
. "$HERE/../../tools/lab/lib.sh"
. "$LAB/kernel.sh"
. "$LAB/build.sh"

need make rsync gcc

for KERNEL in uml uml-debug debian; do
	[ ! -e "$CACHE/current/$KERNEL/done" ] || break
	KERNEL=
done
[ -n "$KERNEL" ] || skip_all "the lab has made no kernel"
KERNEL_DIR=$(readlink -f "$CACHE/current/$KERNEL")
kernel_load "$KERNEL"

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT
driver_copy "$TREE/src"

# attempt TARGET ARGUMENT...
attempt()
{
	local target=$1

	shift
	# shellcheck disable=SC2046 # a list of arguments
	make $(kernel_make "$KERNEL_DIR") M="$TREE/src" "$@" "$target" \
		>"$TREE/said" 2>&1
}

# refused WHAT ARGUMENT...
refused()
{
	local what=$1

	shift
	attempt modules "$@" && return 1
	grep -q "srnic cannot be built for this kernel, which is $what" "$TREE/said" &&
		[ "$(grep -c srnic.cannot "$TREE/said")" = 1 ] &&
		! grep -E ' (CC|LD|AR) |error:' "$TREE/said" &&
		[ -z "$(find "$TREE/src" -name '*.o')" ]
}

# A snippet that does not compile with any kernel simulates an old one.
refused_too_old()
{
	printf '/* %s */\nint probe = no_kernel_has_this;\n' \
		"without the future" >"$TREE/src/tools/probe/need_future.c"
	refused "without the future" || return
	rm "$TREE/src/tools/probe/need_future.c"
}

cleaned()
{
	attempt clean CONFIG_INFINIBAND= && [ ! -e "$TREE/src/srnic-probes.h" ]
}

ktap_plan 5
check "without InfiniBand" \
	refused "configured without CONFIG_INFINIBAND" CONFIG_INFINIBAND=
check "without user access and paging on demand" \
	refused "configured without CONFIG_INFINIBAND_USER_ACCESS CONFIG_INFINIBAND_ON_DEMAND_PAGING" \
	CONFIG_INFINIBAND_USER_ACCESS= CONFIG_INFINIBAND_ON_DEMAND_PAGING=
check "without its compiler" \
	refused "compiled by no-gcc, and that is not installed" CC=no-gcc
check "too old" refused_too_old
check "cleaned all the same" cleaned
ktap_end
