# SPDX-License-Identifier: GPL-2.0
# srnic lab - the user-mode Linux kernels
# shellcheck shell=bash

. "$LAB/source.sh"

# kernel_fragments KERNEL: print the configuration files; later ones take precedence
kernel_fragments()
{
	local files=(uml.config)

	case $1 in
	uml-debug) files+=(ulp.config uml-debug.config) ;;
	uml-leak) files+=(uml-leak.config) ;;
	uml-ulp) files+=(ulp.config uml-ulp.config) ;;
	esac
	printf '%s\n' "${files[@]/#/$LAB/config/}"
}

kernel_compiler()
{
	gcc -dumpfullversion
}

# kernel_make DIR: set the arguments of kbuild for this kernel
kernel_make()
{
	echo -C "$1/src" O="$1/obj" ARCH=um
}

# processors: print the numbers of the host's that this process may run on
processors()
{
	local first last

	sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr , '\n' |
		while IFS=- read -r first last; do
			seq "$first" "${last:-$first}"
		done
}

# processor_take: set PINNED to a command that has a guest with one processor run on one of the
# host's, if there is one that no other such guest has.  The guest's kernel and its programs, which
# are processes of the host, take turns; to wake each other on another processor takes longer than
# most of what they do.
processor_take()
{
	local cpu fd

	PINNED=()
	((CPUS == 1)) || ! grep -qx CONFIG_SMP=y "$KERNEL_DIR/obj/.config" || return 0
	mkdir -p "$CACHE/lock"
	for cpu in $(processors); do
		exec {fd}>"$CACHE/lock/processor-$cpu"
		if flock -n "$fd"; then
			PINNED=(taskset -c "$cpu")
			return
		fi
		exec {fd}>&-
	done
}

# kernel_boot: run the guest that the lab's variables describe, with the console on standard
# output and the kernel log in RESULTS
kernel_boot()
{
	local append con=con0=null,fd:1 joint=()

	read -ra append <<<"$APPEND"
	[ -z "$INTERACTIVE" ] || con=con0=fd:0,fd:1
	[ -z "$MACHINE" ] || joint=("con2=fd:$LINE"
		"vec0:transport=fd,fd=$WIRE,mac=$(wire_mac),mtu=4200,vec=1")
	processor_take
	guest_run "${PINNED[@]}" "$KERNEL_DIR/obj/linux" seccomp=on mem="$MEM" ncpus="$CPUS" \
		${FAST_IRQ:+"$FAST_IRQ"} \
		uml_dir="$JOB" umid=guest initrd="$(initramfs_make)" \
		con=null "$con" con1=null,fd:2 "${joint[@]}" console=tty1 loglevel=8 \
		printk.time=1 "${append[@]}" lab.fs=hostfs \
		lab.lower="$DRIVER_TREE${PROVIDER_TREE:+:$PROVIDER_TREE}:$ROOTFS" \
		lab.repo="$REPO,$REPO" lab.results="$RESULTS,$RESULTS" \
		2>"$RESULTS/kernel.log"
}

KERNEL_TTY=/dev/tty0
KERNEL_LINE=/dev/tty2
