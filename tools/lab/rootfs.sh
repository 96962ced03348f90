# SPDX-License-Identifier: GPL-2.0
# srnic lab - the user space of a guest: the host's, or that of another Debian release
# shellcheck shell=bash

host_rdma_core()
{
	dpkg-query -W -f '${Version}' libibverbs1 | cut -d. -f1
}

# suite_of PACKAGE VERSION: print the Debian release with that version; VERSION is a prefix.
# Security updates and backports belong to their release.
suite_of()
{
	lab_apt apt-cache madison "$1" |
		awk -F' *[|] *' -v v="$2" 'index($2, v) == 1 { print $3 }' |
		grep -oE '(bookworm|trixie|sid)[a-z-]*/' | tail -n 1 | sed 's@[-/].*@@'
}

# packages_of SECTION...: print the packages of tools/lab/packages, each followed by a comma
packages_of()
{
	local section

	for section; do
		awk -v s="$section" '$1 == s { for (i = 2; i <= NF; i++) printf "%s,", $i }' \
			"$LAB/packages"
	done
}

# rootfs_debootstrap TARGET SUITE PACKAGES: TARGET is a new folder or NAME.tar
rootfs_debootstrap()
{
	local -a opts

	rm -rf "$1"
	# accept outdated package lists if the host does
	mapfile -t opts < <(apt-config dump Acquire::Check-Valid-Until |
		sed 's/^/--aptopt=/')
	quietly "$CACHE/log/rootfs-$2" mmdebstrap "${opts[@]}" --variant=minbase \
		--include="${3%,}" "$2" "$1" "$(mirror "$(host_release)")"
}

# rootfs_make_once DIR SUITE PACKAGES
rootfs_make_once()
{
	[ ! -d "$1" ] || return 0
	need_packages rootfs
	step "making a root file system of $2 (2 minutes)"
	rootfs_debootstrap "$1.new" "$2" "$3"
	mv "$1.new" "$1"
}

# rootfs_find NAME PACKAGES: set ROOTFS; fails if it does not exist yet
rootfs_find()
{
	ROOTFS=$CACHE/rootfs/$1-$(echo "$2" | sha256sum | cut -c1-12)
	[ -d "$ROOTFS" ]
}

# rootfs_make SUITE PACKAGES: create the root file system that rootfs_find did not find
rootfs_make()
{
	mkdir -p "$CACHE/rootfs"
	locked "$(basename "$ROOTFS")" rootfs_make_once "$ROOTFS" "$1" "$2"
}

# rootfs_prepare VERSION|host: sets ROOTFS and RDMA_CORE.
rootfs_prepare()
{
	local packages suite

	need_packages traffic
	RDMA_CORE=$(host_rdma_core)
	ROOTFS=/
	[ "$1" != host ] && [ "$1" != "$RDMA_CORE" ] || return 0

	RDMA_CORE=$1
	packages=$(packages_of traffic guest)
	rootfs_find "rdma-core-$1" "$packages" && return
	lab_apt_update
	suite=$(suite_of libibverbs1 "$1." || true)
	[ -n "$suite" ] || die "no Debian release here has rdma-core $1"
	rootfs_make "$suite" "$packages"
}
