# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernel "debian-arm64": the 6.12 of this host's Debian for arm64, in QEMU
#
# Module, provider and harness are cross-compiled.  The user space is that of the same
# release; it is unpacked and not configured, since its programs do not run on the host.
# shellcheck shell=bash

. "$LAB/debian.sh"

CROSS=aarch64-linux-gnu
APT_ARCH=arm64
KERNEL_ARCH=arm64
KERNEL_ARGS=
KERNEL_CONSOLE=ttyAMA0
KERNEL_TTY=/dev/ttyS0
QEMU_PROGRAM=qemu-system-aarch64

kernel_flavour()
{
	:
}

kernel_make()
{
	echo -C "$1/obj" ARCH=arm64 CROSS_COMPILE="$CROSS-" \
		CONFIG_DEBUG_INFO_BTF_MODULES=
}

kernel_initrd()
{
	BUSYBOX=$ROOTFS/bin/busybox
	initramfs_make "$KERNEL_DIR/tree"
}

# QEMU's own algorithm for pointer authentication is cheap; the architected one, executed at
# each call, is not.
qemu_machine()
{
	echo -accel tcg,thread=multi -machine virt -cpu max,pauth-impdef=on -smp "$CPUS"
}

# The machine has one serial port.
qemu_serial()
{
	echo -chardev stdio,id=tty -device pci-serial,chardev=tty
}

# rootfs_unpack DIR SUITE PACKAGES: unpack the packages, and do what the tests need of their
# maintainer scripts
rootfs_unpack()
{
	local -a opts

	[ ! -d "$1" ] || return 0
	step "unpacking a root file system of $2 for arm64 (2 minutes)"
	rm -rf "$1.new"
	mapfile -t opts < <(apt-config dump Acquire::Check-Valid-Until |
		sed 's/^/--aptopt=/')
	quietly "$CACHE/log/rootfs-arm64" mmdebstrap "${opts[@]}" --arch=arm64 \
		--variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
		--include='?essential' --include="$3" "$2" "$1.new" "$(mirror "$2")"
	cp "$1.new/usr/share/base-passwd/passwd.master" "$1.new/etc/passwd"
	cp "$1.new/usr/share/base-passwd/group.master" "$1.new/etc/group"
	ln -s mawk "$1.new/usr/bin/awk"
	mv "$1.new" "$1"
}

# rootfs_prepare host: sets ROOTFS and RDMA_CORE.
rootfs_prepare()
{
	local packages

	need_packages arm64
	RDMA_CORE=$(host_rdma_core)
	[ "$1" = host ] || [ "$1" = "$RDMA_CORE" ] ||
		die "debian-arm64 has the rdma-core of this host's release"
	packages=$(awk '$1 == "traffic" || $1 == "guest" {
		for (i = 2; i <= NF; i++) printf "%s,", $i }' "$LAB/packages")
	packages+=busybox-static,mawk,mount
	rootfs_find "arm64-$(host_release)" "$packages" && return
	mkdir -p "$CACHE/rootfs"
	locked "$(basename "$ROOTFS")" rootfs_unpack "$ROOTFS" "$(host_release)" \
		"$packages"
}

# cross_cc ARGUMENT...: for that user space
cross_cc()
{
	"$CROSS-gcc" --sysroot="$ROOTFS" -O2 -g "$@"
}

# provider_make_once RDMA-CORE DIR: build it with the headers of the host's version, which is
# the same
provider_make_once()
{
	local headers lib=$2.new/usr/lib/$CROSS/libibverbs pabi

	[ ! -d "$2" ] || return 0
	step "building the provider for rdma-core $1 and arm64"
	headers=$("$REPO/tools/provider/build" --rdma-core "$1" --headers)
	pabi=$(awk '$2 == "IBVERBS_PABI_VERSION" { print $3 }' "$headers/config.h")
	rm -rf "$2.new"
	mkdir -p "$lib" "$2.new/etc/libibverbs.d"
	quietly "$CACHE/log/provider-arm64" cross_cc -std=gnu11 -fPIC -shared \
		-fvisibility=hidden -Wall -Wextra -Werror -D_FILE_OFFSET_BITS=64 \
		-I"$REPO/include/uapi" -isystem "$headers" "$REPO"/tools/provider/*.c \
		-Wl,-z,now -Wl,--version-script="$REPO/tools/provider/provider.map" \
		-o "$lib/libsrnic-rdmav$pabi.so" \
		"$ROOTFS/usr/lib/$CROSS/libibverbs.so.1" -lpthread -ldl
	echo 'driver srnic' >"$2.new/etc/libibverbs.d/srnic.driver"
	mv "$2.new" "$2"
}

# provider_build RDMA-CORE: sets PROVIDER_TREE; the verbs harness is built along
# with it, for selftests/lib/vrb.sh.
provider_build()
{
	local key out=$REPO/build/vrb-aarch64

	need_packages provider
	key=$(hash_of "$REPO/tools/provider" "$REPO/include/uapi" "$LAB/arm64.sh")
	PROVIDER_TREE=$CACHE/build/$REPO_ID/provider-arm64-$1-$key
	[ -d "$PROVIDER_TREE" ] ||
		locked "provider-$REPO_ID-arm64" provider_make_once "$1" "$PROVIDER_TREE"
	mkdir -p "$out"
	locked "vrb-$REPO_ID-arm64" quietly "$CACHE/log/vrb-arm64" make \
		-C "$REPO/selftests/verbs" OUT="$out" CC="$CROSS-gcc --sysroot=$ROOTFS"
}
