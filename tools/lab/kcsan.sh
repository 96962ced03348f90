# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernel "kcsan": a small x86 kernel that detects data races in srnic.ko
# shellcheck shell=bash

. "$LAB/source.sh"
. "$LAB/qemu.sh"

KERNEL_ARGS=tsc=reliable
# In the kernel itself only barriers are instrumented: its data races are not our subject, and
# instrumentation takes time.
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

# kernel_make DIR: set the arguments of kbuild for this kernel
kernel_make()
{
	echo -C "$1/src" O="$1/obj" ARCH=x86_64 LLVM=-19
}

# Data races need processors that run concurrently.
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
