#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# If srnic cannot be built for a kernel, make says why in one sentence, and compiles nothing.
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

# refused WHY ARGUMENT...: with that sentence, only once, before anything is compiled
refused()
{
	local why=$1

	shift
	attempt modules "$@" && return 1
	grep -qF "srnic cannot be built for this kernel, $why" "$TREE/said" &&
		[ "$(grep -c srnic.cannot "$TREE/said")" = 1 ] &&
		! grep -E ' (CC|LD|AR) ' "$TREE/said" &&
		[ -z "$(find "$TREE/src" -name '*.o')" ]
}

# refused_plainly WHY ARGUMENT...: without a word from the compiler
refused_plainly()
{
	refused "$@" && ! grep 'error:' "$TREE/said"
}

# beyond COMMAND...: run it while srnic needs what no kernel has
beyond()
{
	local snippet=$TREE/src/tools/probe/need_future.c

	echo 'int probe = no_kernel_has_this;' >"$snippet"
	"$@"
	set -- $?
	rm "$snippet"
	return "$1"
}

# What the compiler said is repeated, and nothing is said about age.
refused_for_its_headers()
{
	refused "whose headers do not compile" "$@" &&
		grep 'error:' "$TREE/said" && ! grep older "$TREE/said"
}

# An output folder in which only the configuration has been made, as "make defconfig" does
unprepared()
{
	mkdir "$TREE/obj"
	cp "$KERNEL_DIR/obj/.config" "$TREE/obj"
	make -C "$KERNEL_DIR/src" O="$TREE/obj" ARCH=um syncconfig || return
	refused_for_its_headers O="$TREE/obj"
}

cleaned()
{
	attempt clean CONFIG_INFINIBAND= && [ ! -e "$TREE/src/srnic-probes.h" ]
}

ktap_plan 7
check "without InfiniBand" \
	refused_plainly "which is configured without CONFIG_INFINIBAND" CONFIG_INFINIBAND=
check "without user access and paging on demand" \
	refused_plainly "which is configured without CONFIG_INFINIBAND_USER_ACCESS CONFIG_INFINIBAND_ON_DEMAND_PAGING" \
	CONFIG_INFINIBAND_USER_ACCESS= CONFIG_INFINIBAND_ON_DEMAND_PAGING=
check "without its compiler" \
	refused_plainly "which is compiled by no-gcc, and that is not installed" CC=no-gcc
check "too old" beyond refused_plainly "which is older than 5.15.54" \
	VERSION=5 PATCHLEVEL=15 SUBLEVEL=53
check "old enough" beyond refused_for_its_headers VERSION=5 PATCHLEVEL=15 SUBLEVEL=54
if [[ $KERNEL == uml* ]]; then
	check "not prepared" unprepared
else
	skip "not prepared" "needs a kernel that comes with its Kconfig"
fi
check "cleaned all the same" cleaned
ktap_end
