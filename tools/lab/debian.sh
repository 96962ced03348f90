# SPDX-License-Identifier: GPL-2.0
# srnic lab - Debian's stock kernels, unpacked in the cache
#
#   debian                      the 6.12 of the host's Debian release
#   debian-rt                   that kernel with PREEMPT_RT
#   debian-VERSION[-FLAVOUR]    the newest of that version in any release known to apt:
#                               debian-6.1, debian-7.3-cloud
# shellcheck shell=bash

. "$LAB/qemu.sh"
. "$LAB/rootfs.sh"

KERNEL_ARCH=amd64
KERNEL_ARGS=mitigations=off

debian_number()
{
	(. /etc/os-release && echo "$VERSION_ID")
}

# kernel_version KERNEL: print the first two numbers of its version
kernel_version()
{
	case $1 in
	debian-[0-9]*) echo "${1#debian-}" | cut -d- -f1 ;;
	*) echo 6.12 ;;
	esac
}

# kernel_flavour KERNEL: print the flavour in the names of its packages
kernel_flavour()
{
	local rest=${1#debian}

	echo "${rest#-"$(kernel_version "$1")"}"
}

# kernel_abi KERNEL: print a pattern for what follows the version in the names of its packages
kernel_abi()
{
	case $1 in
	debian-[0-9]*) echo '(-[0-9]+|\+deb[0-9]+(\.[0-9]+)?)' ;;
	*) echo "\\+deb$(debian_number)(\\.[0-9]+)?" ;;
	esac
}

kernel_key()
{
	echo "$(kernel_version "$1")-deb$(debian_number)$(kernel_flavour "$1")" |
		sha256sum | cut -c1-12
}

# kbuild_version PACKAGE VERSION: print VERSION or, if the archive has dropped it, what apt would
# install.  All of 6.1 share one package, and a new one is there before its signed kernel.
kbuild_version()
{
	lab_apt apt-cache policy "$1" | awk -v want="$2" '
		$1 == "Candidate:" { newest = $2 }
		$1 == want { there = 1 }
		END { print there ? want : newest }'
}

# unpack PACKAGE VERSION DIR
unpack()
{
	local APT_ARCH=$APT_ARCH deb version=$2

	if [[ $1 == linux-kbuild-* ]]; then
		APT_ARCH=	# programs, which run here
		version=$(kbuild_version "$1" "$2")
	fi
	step "fetching $1"
	deb=$(fetch_deb "$1" "$version")
	dpkg-deb -x "$deb" "$3"
	rm -r "${deb%/*}"
}

# parts_of PACKAGE...: print the packages and the kernel packages that they depend on
parts_of()
{
	printf '%s\n' "$@"
	lab_apt apt-cache depends "$@" |
		awk '$1 == "Depends:" && $2 ~ /^linux-(base|binary|modules|headers|kbuild)-[0-9]/ {
			print $2 }'
}

# kernel_fetch KERNEL DIR: the packages, unpacked in DIR/pkg; DIR/image is the name
# and the version of the one with the kernel.
kernel_fetch()
{
	local dir=$2 image names version p

	APT_ARCH='' lab_apt_update
	lab_apt_update
	names=$(kernel_version "$1")
	names="${names//./\\.}\.[0-9]+$(kernel_abi "$1")$(kernel_flavour "$1")-$KERNEL_ARCH"
	read -r image version < <(newest "^linux-image-$names$") ||
		die "apt has no image of kernel $1"

	rm -rf "$dir/pkg" "$dir/tree" "$dir/root"
	for p in $(parts_of "$image" "linux-headers-${image#linux-image-}"); do
		unpack "$p" "$version" "$dir/pkg"
	done
	echo "$image $version" >"$dir/image"
}

kernel_build()
{
	local dir=$2 image version release common

	read -r image version <"$dir/image"
	release=${image#linux-image-}
	mkdir -p "$dir/tree/usr/lib"
	find "$dir/pkg" -name 'vmlinuz*' -type f -exec mv {} "$dir/vmlinuz" \;
	find "$dir/pkg" -path '*/lib/modules' -exec mv -T {} "$dir/modules" \; -prune
	mv "$dir/modules" "$dir/tree/usr/lib/modules"
	rm -f "$dir"/tree/usr/lib/modules/*/{build,source}
	tree_depmod "$dir/tree" "$release"
	headers_relocate "$dir/pkg/usr" "$release"
	common=$(basename "$dir"/pkg/usr/src/linux-headers-*-common*)
	ln -sfn "pkg/usr/src/$common" "$dir/src"
	ln -sfn "pkg/usr/src/linux-headers-$release" "$dir/obj"
	kernel_root "$dir" "$(suite_of "$image" "$version")"
}

# headers_relocate USR RELEASE: the headers name each other by absolute paths;
# make them name the cache.
headers_relocate()
{
	local kbuild link obj=$1/src/linux-headers-$2

	grep -rlI -e "/usr/src/linux-headers-" -e "/usr/lib/linux-kbuild" \
		"$obj" --include='Makefile*' --include='*.mk' |
		USR=$1 xargs -r perl -pi \
			-e 's@/usr/(src/linux-headers|lib/linux-kbuild)@$ENV{USR}/$1@g'
	kbuild=$(echo "$1"/lib/linux-kbuild-*)
	find "$1/src" -type l -lname '*linux-kbuild-*' | while read -r link; do
		ln -sfn "$kbuild/$(basename "$link")" "$link"
	done
}

# kernel_root DIR SUITE: on a host with another release, create DIR/root, a root file system of
# SUITE, to build modules in: kbuild's host programs need its C library, and the kernel was
# built by its compiler.
kernel_root()
{
	local packages

	[ "$2" != "$(host_release)" ] || return 0
	packages=$(grep -oE 'gcc-[0-9]+' "$1/obj/.kernelvariables")
	packages+=,make,libelf-dev,libssl-dev
	rootfs_find "build-$2" "$packages" || rootfs_make "$2" "$packages"
	ln -sfn "$ROOTFS" "$1/root"
}

# kernel_run COMMAND...: run it where this kernel's modules are built, with access to the
# cache and to temporary files
kernel_run()
{
	if [ -e "$KERNEL_DIR/root" ]; then
		unshare --mount --map-root-user bash -c 'set -e
			for dir in /dev /proc /tmp "$2" "$3"; do
				mkdir -p "$1$dir"
				mount --rbind "$dir" "$1$dir"
			done
			exec chroot "$1" "${@:4}"' \
			bash "$(readlink "$KERNEL_DIR/root")" "$CACHE" \
			"${TMPDIR:-/tmp}" "$@"
	else
		"$@"
	fi
}

# The lab does not use debug information, which BTF would need, together with pahole.
kernel_make()
{
	echo -C "$1/obj" CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0
}

kernel_image()
{
	echo "$KERNEL_DIR/vmlinuz"
}

# The root file system of a guest is on 9p, which cloud kernels lack.
kernel_initrd()
{
	[ -n "$(find "$KERNEL_DIR/tree" -name '9p.ko*')" ] ||
		die "this kernel has no 9p: modules are built for it, but it does not boot here"
	initramfs_make "$KERNEL_DIR/tree"
}
