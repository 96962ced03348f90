#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the provider compiles for each rdma-core, also for 32-bit programs, and
# one file works with all versions that load it
# usage: selftests/meta/provider.sh
#
# The layouts are those of the versions, on x86-64.

HERE=$(dirname "$(readlink -f "$0")")
. "$HERE/../lib/ktap.sh"
. "$HERE/../../tools/lab/lib.sh"

BUILD=$REPO/tools/provider/build

need gcc cmp

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

built()
{
	"$BUILD" --rdma-core "$1" --out "$TREE/$1"
}

built_i386()
{
	"$BUILD" --rdma-core "$1" --i386
}

same_file()
{
	cmp "$TREE/44/libsrnic-rdmav34.so" "$TREE/56/libsrnic-rdmav34.so"
}

# layout EXPECTED MASK_AT DEFINE...: compile and run layout.c for a version
layout()
{
	local expected=$1 include mask=$2 said

	shift 2
	include=$("$BUILD" --rdma-core 56 --headers) || return
	gcc -O2 -std=gnu11 -Wall -rdynamic -DMASK_AT="$mask" "$@" \
		-isystem "$include" -I"$REPO/tools/provider" \
		"$HERE/layout.c" "$REPO/tools/provider/compat.c" \
		-o "$TREE/layout" -ldl || return
	said=$("$TREE/layout") || return
	[ "$said" = "$expected" ] || { echo "$said"; return 1; }
}

# without_apt: build without apt and dpkg, from a source that includes the library
without_apt()
{
	local source version

	(cd "$TREE" && lab_apt_update &&
		lab_apt apt-get -q --tar-only --download-only source rdma-core) || return
	source=$(echo "$TREE"/rdma-core_*.orig.tar.*)
	version=${source##*/rdma-core_}
	mkdir "$TREE/bin"
	ln -s /usr/sbin/* /usr/bin/* "$TREE/bin" 2>/dev/null
	rm "$TREE"/bin/{apt,dpkg}*
	PATH=$TREE/bin "$BUILD" --rdma-core "${version%%.*}" --source "$source" \
		--out "$TREE/without" && ls "$TREE"/without/libsrnic-rdmav*.so
}

key()
{
	hash_of "$REPO"/{tools/provider,include/uapi} "$LAB/lib.sh" "$0"
}

versions=(44 56 65)
ktap_plan 13
for version in "${versions[@]}"; do
	check "rdma-core $version"	built "$version"
done
for version in "${versions[@]}"; do
	if [ -e "/usr/include/$(gcc -print-multiarch)/gnu/stubs-32.h" ]; then
		check "rdma-core $version, 32 bits"	built_i386 "$version"
	else
		skip "rdma-core $version, 32 bits"	"no libc6-dev-i386"
	fi
done
check "44 and 56 get one file"	same_file
check "without apt"		known "provider-$(key)" without_apt
check "layout of 36 to 43"	layout "RDMA_WRITE" 344 -DSINCE_36
check "layout of 44"		layout "RDMA_WRITE ATOMIC_WRITE" 352 -DSINCE_36
check "layout of 45 to 56"	layout "RDMA_WRITE ATOMIC_WRITE FLUSH" 360 -DSINCE_36
check "an unknown layout is refused"	layout refused 368 -DSINCE_36
check "34 and 35 are refused"	layout refused 344
ktap_end
