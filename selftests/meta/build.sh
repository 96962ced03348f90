#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - gcc, sparse, clang and tools/layers report nothing about the module, nor
# about that of selftests/ulp
# usage: selftests/meta/build.sh [--all]
#
# With W=1, for the newest kernel with KASAN, under which frames are largest; with --all also
# by clang, for an old stock kernel, and for arm64.  No kernel is built here; one that the
# lab has not made is skipped.  A build without warnings is not repeated until its
# inputs change.  LLVM is the version of clang to use, as for kbuild.

HERE=$(dirname "$(readlink -f "$0")")
. "$HERE/../lib/ktap.sh"
. "$HERE/../../tools/lab/lib.sh"
. "$LAB/kernel.sh"
. "$LAB/build.sh"
. "$LAB/sparse.sh"

LLVM=${LLVM:--19}
COMPLAINT='([Ww]arning|[Ee]rror):|WARNING'

need make rsync gcc

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

# Kernels, each with the tools that check the module for it; gcc has the larger frames.
KERNELS=("uml-debug gcc sparse layers")
[ "${1:-}" != --all ] || KERNELS+=(
	"uml clang"
	"debian-6.1 gcc sparse clang"
	"debian-arm64 gcc sparse"
)

# build NAME ARGUMENT...: build in the copy NAME, with the output in NAME.log there
build()
{
	local copy=$TREE/$1 log=$TREE/$1.log

	shift
	driver_copy "$copy"
	{
		kernel_run make "$@" M="$copy" W=1 -j"$JOBS" modules &&
			kernel_run make "$@" M="$copy/$TEST_MODULES" W=1 -j"$JOBS" modules
	} >"$log" 2>&1 && return
	tail -n 25 "$log"
	return 1
}

# complaints LOG: print them, except for those of kbuild about this machine
complaints()
{
	grep -E "$COMPLAINT" "$1" | grep -v 'warning: pahole version differs'
}

gcc_is_silent()
{
	# shellcheck disable=SC2046 # a list of arguments
	build gcc $(kernel_make "$KERNEL_DIR") && ! complaints "$TREE/gcc.log"
}

# After the build by gcc; kbuild ignores a version of sparse that it does not accept.
sparse_is_silent()
{
	# shellcheck disable=SC2046
	build gcc $(kernel_make "$KERNEL_DIR") C=2 CHECK="$SPARSE" &&
		! complaints "$TREE/gcc.log" &&
		grep -q '^  CHECK .*srnic/main\.c$' "$TREE/gcc.log"
}

# tools/layers looks at the objects of the build by gcc, and finds all of them.
layers_are_kept()
{
	# shellcheck disable=SC2046
	build gcc $(kernel_make "$KERNEL_DIR") || return
	"$REPO/tools/layers" --root "$REPO" --objects "$TREE/gcc/drivers/srnic" \
		>"$TREE/layers.log" && ! grep SKIP "$TREE/layers.log" && return
	grep -A 9 '^not ok' "$TREE/layers.log"
	return 1
}

# clang_make KERNEL: arguments to build with clang for a kernel built by gcc.  User-mode
# Linux comes with its Kconfig, and is configured again.  Debian's headers do not; there the
# options that depend on the compiler are set by hand.
clang_make()
{
	local version

	case $1 in
	uml*)
		echo -C "$KERNEL_DIR/src" O="$TREE/obj" ARCH=um LLVM="$LLVM"
		;;
	*)
		version=$("clang$LLVM" -dumpversion |
			awk -F. '{ printf "%d%02d%02d", $1, $2, $3 }')
		kernel_make "$KERNEL_DIR"
		echo CC="clang$LLVM" CONFIG_CC_IS_CLANG=y CONFIG_CC_IS_GCC= \
			CONFIG_CLANG_VERSION="$version" CONFIG_GCC_VERSION=0 \
			CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough \
			CONFIG_FTRACE_MCOUNT_USE_CC=
		;;
	esac
}

# clang_configure KERNEL
clang_configure()
{
	[[ $1 == uml* ]] || return 0
	mkdir "$TREE/obj"
	cp "$KERNEL_DIR"/obj/{.config,Module.symvers} "$TREE/obj"
	# shellcheck disable=SC2046
	make $(clang_make "$1") -j"$JOBS" olddefconfig modules_prepare
}

# The headers are for gcc, or for another version of clang: only messages about our own files
# or the module as a whole count.
clang_is_silent()
{
	rm -rf "$TREE/clang" "$TREE/obj"
	# shellcheck disable=SC2046
	clang_configure "$1" && build clang $(clang_make "$1") &&
		! grep -E "^($TREE/|drivers/|include/compat/).*($COMPLAINT)|modpost:|objtool:" \
			"$TREE/clang.log"
}

# key COMMAND...: a hash of the sources, the kernel, and the compiler, whose version COMMAND
# prints
key()
{
	{
		"$@"
		echo "$KERNEL_DIR"
		hash_of "$REPO"/{drivers,include,tools/probe,Kbuild,"$TEST_MODULES"} \
			"$HERE/build.sh"
	} | sha256sum | cut -c1-16
}

check_gcc()
{
	check "$1: gcc" known "$(key "${CROSS:+$CROSS-}gcc" --version)" gcc_is_silent
}

check_sparse()
{
	if [ -n "$SPARSE" ]; then
		check "$1: sparse" known "$(key echo "$SPARSE")" sparse_is_silent
	else
		skip "$1: sparse" "none could be built"
	fi
}

check_layers()
{
	check "$1: layers" known "$(key sha256sum "$REPO"/tools/{layers,floors})" layers_are_kept
}

check_clang()
{
	if [ -e "$KERNEL_DIR/root" ]; then
		skip "$1: clang" "the kernel is of another release"
	elif [ -n "$(type -P "clang$LLVM")" ] && [ -n "$(type -P "ld.lld$LLVM")" ]; then
		check "$1: clang" known "$(key "clang$LLVM" --version)" \
			clang_is_silent "$1"
	else
		skip "$1: clang" "clang$LLVM or lld$LLVM is not installed"
	fi
}

# kernel_checks KERNEL TOOL...
kernel_checks()
{
	local kernel=$1 tool

	shift
	KERNEL_DIR=$(readlink -f "$CACHE/current/$kernel")
	if [ ! -e "$KERNEL_DIR/done" ]; then
		for tool; do
			skip "$kernel: $tool" "the lab has not made that kernel"
		done
		return
	fi
	rm -rf "$TREE/gcc"
	kernel_load "$kernel"
	for tool; do
		"check_$tool" "$kernel"
	done
}

SPARSE=$(sparse_prepare) || SPARSE=
CROSS=	# a kernel of another architecture says which compiler makes its modules

read -ra words <<<"${KERNELS[*]}"
ktap_plan $((${#words[@]} - ${#KERNELS[@]}))
for kernel in "${KERNELS[@]}"; do
	# shellcheck disable=SC2086 # with its tools
	kernel_checks $kernel
done
ktap_end
