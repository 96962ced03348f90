# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernel "host": the running kernel, if it can load modules.
# Module and provider are overlaid on the system's folders in a mount namespace of the
# command, so no file of the host changes.
# shellcheck shell=bash

KERNEL_TTY=/dev/tty

host_modules()
{
	echo "/lib/modules/$(uname -r)"
}

kernel_key()
{
	((EUID == 0)) || die "kernel 'host' needs root"
	[ -e /proc/modules ] &&
		[ "$(cat /proc/sys/kernel/modules_disabled 2>/dev/null)" = 0 ] ||
		die "this machine's kernel cannot load modules: use --kernel uml"
	[ -e "$(host_modules)/build/Makefile" ] ||
		die "no headers for $(uname -r): install linux-headers-$(uname -r), or use --kernel uml"
	uname -rv | sha256sum | cut -c1-12
}

kernel_build()
{
	mkdir -p "$2/tree/usr/lib/modules"
	cp -a "$(host_modules)" "$2/tree/usr/lib/modules/"
}

# The lab does not use debug information, which BTF would need.
kernel_make()
{
	echo -C "$(host_modules)/build" CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0
}

# host_session: run the command in the namespace that kernel_boot has created
host_session()
{
	local dir lib

	mount --bind "$DRIVER_TREE/usr/lib/modules/$(uname -r)" "$(host_modules)"
	if [ -n "$PROVIDER_TREE" ]; then
		lib=$(cd "$PROVIDER_TREE" && echo usr/lib/*/libibverbs)
		for dir in "$lib" etc/libibverbs.d; do
			mkdir -p "/$dir"
			mount -t overlay -o "lowerdir=$PROVIDER_TREE/$dir:/$dir" lab "/$dir"
		done
	fi
	modprobe srnic || return	# the kernel would look for it outside of the namespace
	cd "$REPO" || return
	export RESULTS SRNIC_KERNEL=host
	bash "$JOB/command"
}

kernel_boot()
{
	local log status=0 loaded

	[ -z "$INTERACTIVE" ] || echo "exec bash -i" >"$JOB/command"
	loaded=$(grep -c '^srnic ' /proc/modules || true)
	dmesg --follow-new >"$RESULTS/kernel.log" &
	log=$!
	: >"$JOB/begun"
	export REPO RESULTS JOB DRIVER_TREE PROVIDER_TREE
	export -f host_session host_modules
	guest_run unshare --mount bash -c host_session || status=$?
	((status == 137)) || echo "$status" >"$JOB/status"
	((loaded)) || rmmod srnic 2>/dev/null || true
	kill "$log"
}
