# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernel "kcsan": a small x86 kernel that looks for data races in srnic.ko
# shellcheck shell=bash

. "$LAB/source.sh"
. "$LAB/qemu.sh"

KERNEL_ARGS=tsc=reliable
# of the kernel itself the barriers alone: what it does to its own data is not ours,
# and looking there takes time
# shellcheck disable=SC2016 # for make
KERNEL_ENV=(env KCSAN_SANITIZE=n 'KCSAN_INSTRUMENT_BARRIERS=$(is-kernel-object)')

kernel_fragments()
{
	echo "$LAB/config/kcsan.config"
}

kernel_compiler()
{
	need_packages kcsan
	clang-19 -dumpversion
}

# kernel_make DIR: the arguments that make kbuild build for this kernel.
kernel_make()
{
	echo -C "$1/src" O="$1/obj" ARCH=x86_64 LLVM=-19
}

# Races need processors that run at once.
qemu_thread()
{
	echo multi
}

kernel_image()
{
	echo "$KERNEL_DIR/obj/arch/x86/boot/bzImage"
}

kernel_initrd()
{
	initramfs_make
}
