# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernel "debian": the stock 6.12 that this host's Debian ships,
# unpacked in the cache; "debian-rt": the same with PREEMPT_RT
# shellcheck shell=bash

. "$LAB/qemu.sh"

KERNEL_ARGS=mitigations=off

debian_number()
{
	(. /etc/os-release && echo "$VERSION_ID")
}

# kernel_flavour KERNEL: what its packages have in their names
kernel_flavour()
{
	echo "${1#debian}"
}

kernel_key()
{
	echo "6.12-deb$(debian_number)$(kernel_flavour "$1")" | sha256sum | cut -c1-12
}

# unpack PACKAGE VERSION DIR
unpack()
{
	local deb

	step "fetching $1"
	deb=$(fetch_deb "$1" "$2")
	dpkg-deb -x "$deb" "$3"
	rm -r "${deb%/*}"
}

kernel_build()
{
	local dir=$2 image version release base common flavour p

	lab_apt_update
	flavour=$(kernel_flavour "$1")
	p="^linux-image-6\.12\.[0-9]+\+deb$(debian_number)(\.[0-9]+)?$flavour-amd64$"
	read -r image version < <(newest "$p") ||
		die "apt has no 6.12$flavour image for this Debian"
	release=${image#linux-image-}
	base=${release%"$flavour"-amd64}
	common=$base-common$flavour

	rm -rf "$dir/pkg" "$dir/tree"
	for p in "linux-image-$release" "linux-headers-$release" \
		"linux-headers-$common" "linux-kbuild-$base"; do
		unpack "$p" "$version" "$dir/pkg"
	done

	mkdir -p "$dir/tree/usr/lib"
	mv "$dir"/pkg/boot/vmlinuz-* "$dir/vmlinuz"
	find "$dir/pkg" -path '*/lib/modules' -exec mv -T {} "$dir/modules" \; -prune
	mv "$dir/modules" "$dir/tree/usr/lib/modules"
	rm -f "$dir"/tree/usr/lib/modules/*/{build,source}
	tree_depmod "$dir/tree" "$release"
	headers_relocate "$dir/pkg/usr" "$release" "$base"
	ln -sfn "pkg/usr/src/linux-headers-$common" "$dir/src"
	ln -sfn "pkg/usr/src/linux-headers-$release" "$dir/obj"
}

# headers_relocate USR RELEASE BASE: the headers name each other by absolute
# paths; make them name the cache.
headers_relocate()
{
	local obj=$1/src/linux-headers-$2 link

	grep -rlI -e "/usr/src/linux-headers-$3" -e "/usr/lib/linux-kbuild" \
		"$obj" --include='Makefile*' --include='*.mk' |
		xargs -r sed -i "s@/usr/\(src/linux-headers\|lib/linux-kbuild\)@$1/\1@g"
	find "$1/src" -type l -lname '*linux-kbuild-*' | while read -r link; do
		ln -sfn "$1/lib/linux-kbuild-$3/$(basename "$link")" "$link"
	done
}

# BTF for our module would need pahole, and nothing here reads it.
kernel_make()
{
	echo -C "$1/obj" CONFIG_DEBUG_INFO_BTF_MODULES=
}

kernel_image()
{
	echo "$KERNEL_DIR/vmlinuz"
}

kernel_initrd()
{
	initramfs_make "$KERNEL_DIR/tree"
}
