# SPDX-License-Identifier: GPL-2.0
# srnic lab - sparse, built from the newest source that apt has, since new kernels do not
# accept that of a stable release
# shellcheck shell=bash

sparse_make_once()
{
	local log=$CACHE/log/sparse new=$1.new version

	[ ! -d "$1" ] || return 0
	lab_apt_update
	read -r _ version < <(newest '^sparse$') || die "apt has no sparse"
	step "building sparse $version"
	rm -rf "$new"
	mkdir -p "$new/src"
	(cd "$new" && quietly "$log-fetch" lab_apt apt-get --tar-only \
		--download-only source "sparse=$version")
	tar -C "$new/src" --strip-components=1 -xf "$new"/sparse_*.orig.tar.*
	quietly "$log-build" make -s -C "$new/src" -j"$JOBS" sparse
	mv "$new/src/sparse" "$new/"
	rm -rf "$new"/src "$new"/*.tar.*
	mv "$new" "$1"
}

# sparse_prepare: prints its path.
sparse_prepare()
{
	local dir=$CACHE/sparse

	[ -d "$dir" ] || locked sparse sparse_make_once "$dir"
	echo "$dir/sparse"
}
