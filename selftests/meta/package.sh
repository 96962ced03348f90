#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the Debian packages can be built, lintian finds nothing, and DKMS builds
# the module
# usage: selftests/meta/package.sh

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"
. "$selftests/../tools/lab/lib.sh"

need make dpkg-deb lintian dkms
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBFULLNAME=Selftest DEBEMAIL=selftest@example.org

# built: build the packages once, for the first check that needs them
built()
{
	[ ! -d "$work/deb" ] || return 0
	"$selftests/../tools/package/build" "$work/deb" &&
		[ "$(printf '%s\n' "$work"/deb/*.deb | grep -vc dbgsym)" = 3 ]
}

lintian_is_silent()
{
	built || return
	lintian --allow-root "$work"/deb/*.deb >"$work/lintian" 2>&1
	! grep . "$work/lintian"
}

# depends_on_what_fits: the package has a library for each private ABI that its dependency allows
depends_on_what_fits()
{
	local deb depends

	built || return
	deb=$(printf '%s\n' "$work"/deb/ibverbs-provider-srnic_*.deb)
	depends=$(dpkg-deb -f "$deb" Depends)
	echo "$depends"
	dpkg-deb -c "$deb" | grep -o 'libsrnic-rdmav[0-9]*\.so'
	[[ $depends == *"libibverbs1 (>= 44), libibverbs1 (<< 57~) | libibverbs1 (>= 65), libibverbs1 (<< 66~)"* ]]
}

# dkms_builds KERNEL-DIRECTORY
dkms_builds()
{
	local kernel source

	built || return
	kernel=$(ls "$1/tree/usr/lib/modules")
	dpkg-deb -x "$work"/deb/srnic-dkms_*.deb "$work/root"
	source=$(echo "$work"/root/usr/src/srnic-*)
	mkdir "$work/dkms"
	dkms build "srnic/${source##*/srnic-}" --dkmstree "$work/dkms" \
		--sourcetree "$work/root/usr/src" -k "$kernel" \
		--kernelsourcedir "$1/obj" || { cat "$work"/dkms/srnic/*/build/make.log; return 1; }
	find "$work/dkms" -name 'srnic.ko*' | grep . >/dev/null
}

# key WHAT: a hash of the inputs and tools of the packages
key()
{
	{
		echo "$1 $kernel"
		dpkg-query -W debhelper dkms libibverbs-dev lintian
		hash_of "$REPO"/{COPYING,Documentation,Kbuild,Makefile,drivers,include,tools} "$0"
	} | sha256sum | cut -c1-16
}

kernel=$(readlink -f "$CACHE/current/debian")
ktap_plan 4
check "packages are built"		known "$(key built)" built
check "lintian finds nothing"		known "$(key lintian)" lintian_is_silent
check "the provider's dependency"	known "$(key depends)" depends_on_what_fits
if [ -e "$kernel/done" ]; then
	check "DKMS builds for a stock kernel"	known "$(key dkms)" dkms_builds "$kernel"
else
	skip "DKMS builds for a stock kernel"	"the lab has not made debian"
fi
ktap_end
