# SPDX-License-Identifier: GPL-2.0
# srnic lab - what user space a guest sees: the host's, or another Debian's
# shellcheck shell=bash

host_rdma_core()
{
	dpkg-query -W -f '${Version}' libibverbs1 | cut -d. -f1
}

# suite_with VERSION: the Debian release that has that rdma-core.
suite_with()
{
	lab_apt apt-cache madison libibverbs1 |
		awk -F'[|/ ]+' -v v="$1." 'index($3, v) == 1' |
		grep -oE '(bookworm|trixie|sid)/' | tail -n 1 | tr -d /
}

# rootfs_make_once DIR VERSION PACKAGES
rootfs_make_once()
{
	local -a opts
	local suite

	[ ! -d "$1" ] || return 0
	need_packages rootfs
	lab_apt_update
	suite=$(suite_with "$2" || true)
	[ -n "$suite" ] ||
		die "no Debian release here has rdma-core $2"
	step "making a root file system of $suite (2 minutes)"
	rm -rf "$1.new"
	# a host that puts up with old package lists does so here too
	mapfile -t opts < <(apt-config dump Acquire::Check-Valid-Until |
		sed 's/^/--aptopt=/')
	quietly "$CACHE/log/rootfs-$suite" mmdebstrap "${opts[@]}" --variant=minbase \
		--include="$3" "$suite" "$1.new" "$(mirror "$(host_release)")"
	mv "$1.new" "$1"
}

# rootfs_prepare VERSION|host: sets ROOTFS and RDMA_CORE.
rootfs_prepare()
{
	local packages

	need_packages traffic test
	RDMA_CORE=$(host_rdma_core)
	ROOTFS=/
	[ "$1" != host ] && [ "$1" != "$RDMA_CORE" ] || return 0

	RDMA_CORE=$1
	packages=$(awk '$1 == "traffic" || $1 == "guest" {
		for (i = 2; i <= NF; i++) printf "%s,", $i }' "$LAB/packages")
	ROOTFS=$CACHE/rootfs/rdma-core-$1-$(echo "$packages" | sha256sum | cut -c1-12)
	mkdir -p "$CACHE/rootfs"
	[ -d "$ROOTFS" ] ||
		locked "rootfs-$1" rootfs_make_once "$ROOTFS" "$1" "${packages%,}"
}
