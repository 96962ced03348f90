# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernels "tree:DIR": a small x86 kernel built from the source tree in DIR, which
# may be read-only and must be clean, for releases that Debian does not package
# shellcheck shell=bash

. "$LAB/source.sh"
. "$LAB/qemu.sh"

KERNEL_ARGS='tsc=reliable mitigations=off'

# kernel_source KERNEL: print the folder of its sources
kernel_source()
{
	realpath -e "${1#tree:}"
}

kernel_fragments()
{
	echo "$LAB/config/tree.config"
}

kernel_compiler()
{
	gcc -dumpfullversion
}

# kernel_edition KERNEL: print what distinguishes it from kernels with the same fragments
kernel_edition()
{
	local makefile

	makefile=$(kernel_source "$1")/Makefile || die "'$1' is not a source tree"
	echo "$makefile"
	grep -E '^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) =' "$makefile"
}

# kernel_make DIR: set the arguments of kbuild for this kernel
kernel_make()
{
	echo -C "$1/src" O="$1/obj" ARCH=x86_64
}

kernel_image()
{
	echo "$KERNEL_DIR/obj/arch/x86/boot/bzImage"
}

kernel_initrd()
{
	initramfs_make
}
