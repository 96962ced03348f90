# SPDX-License-Identifier: GPL-2.0
# srnic lab - one guest: its job folder, its processes, and the check of its kernel log
# shellcheck shell=bash

# BUSYBOX: static, for the guest's processor
BUSYBOX=/bin/busybox

# bound in seconds from the start to the session, which only a hang reaches
BOOT_BOUND=${BOOT_BOUND:-900}

# initramfs_make [TREE]: print the path of an initramfs with /init, and with the modules
# that the stock kernel of TREE needs to mount its root
initramfs_make()
{
	local file key new tmp

	key=$(hash_of "$LAB/init" "$LAB/guest.sh" "$BUSYBOX")
	file=$CACHE/initramfs/$key-${1:+$(ls "$1/usr/lib/modules")}.gz
	if [ ! -e "$file" ]; then
		mkdir -p "$CACHE/initramfs"
		new=$(mktemp "$file.XXXXXX")	# two machines may do this concurrently
		tmp=$(mktemp -d)
		mkdir -p "$tmp/bin" "$tmp/modules"
		install -m 755 "$LAB/init" "$tmp/init"
		install -m 755 "$BUSYBOX" "$tmp/bin/busybox"
		[ -z "${1:-}" ] || initramfs_modules "$1" "$tmp/modules"
		(cd "$tmp" && find . | cpio -o -H newc --quiet | gzip -1) >"$new"
		mv "$new" "$file"
		rm -r "$tmp"
	fi
	echo "$file"
}

# initramfs_modules TREE DIR: copy them, numbered in the order of loading
initramfs_modules()
{
	local n=100 name path version

	version=$(ls "$1/usr/lib/modules")
	mkdir -p "$2/.root"
	ln -s "$1/usr/lib" "$2/.root/lib"
	for name in virtio_pci 9p 9pnet_virtio overlay; do
		modprobe -d "$2/.root" -S "$version" --show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r path; do
			n=$((n + 1))
			name=$n-$(basename "${path%.xz}")
			case $path in
			*.xz) xz -dc "$path" >"$2/$name" ;;
			*) cp "$path" "$2/$name" ;;
			esac
		done
	rm -r "$2/.root"
}

results_new()
{
	mktemp -d "${TMPDIR:-/tmp}/srnic-lab.XXXXXX"
}

# results_make COMMAND...: sets JOB inside RESULTS, and RESULTS if it is not set.
results_make()
{
	RESULTS=${RESULTS:-$(results_new)}
	mkdir -p "$RESULTS/lab"
	rm -rf "$RESULTS/coverage"
	[ -z "$COVERAGE" ] || cp -r "$DRIVER_TREE/coverage" "$RESULTS/"
	RESULTS=$(cd "$RESULTS" && pwd)
	JOB=$RESULTS/lab
	INTERACTIVE=
	rm -f "$JOB/begun" "$JOB/hangs" "$JOB/status" "$JOB/command" "$RESULTS/kernel.log" "$RESULTS/kmemleak"

	if [ $# -gt 0 ]; then
		printf '%q ' "$@" >"$JOB/command"
	else
		[ -t 0 ] || die "a shell needs a terminal: give a command"
		INTERACTIVE=1
		TIMEOUT=0
	fi
	cp "$LAB/session" "$JOB/session"
	cat /proc/cpuinfo >"$JOB/cpuinfo"
	{
		printf '%s=%q\n' REPO "$REPO" RESULTS "$RESULTS" \
			SRNIC_KERNEL "$KERNEL" TTY "$KERNEL_TTY" \
			TERM "${TERM:-linux}" HUNT "${HUNT:-}" HUNT_SEED "${HUNT_SEED:-}" \
			KTAP_BOUND "${KTAP_BOUND:-}" MACHINE "$MACHINE" LINE "${LINE:+$KERNEL_LINE}"
		printf 'ROWS=%s COLS=%s\n' "$(stty size 2>/dev/null | cut -d' ' -f1)" \
			"$(stty size 2>/dev/null | cut -d' ' -f2)"
	} >"$JOB/settings"
}

# guest_watch PID: kill the child of that process if the session does not begin
guest_watch()
{
	local end=$((SECONDS + BOOT_BOUND))

	while [ ! -e "$JOB/begun" ]; do
		if ((SECONDS >= end)); then
			: >"$JOB/hangs"
			pkill -KILL -P "$1"
			return
		fi
		sleep 0.5
	done
}

# guest_run COMMAND...: run the guest, through the command REAL_TIME; all of its processes end
# with it
guest_run()
{
	local out cat guest status=0 watch

	ulimit -c 0
	if [ -n "$INTERACTIVE" ]; then
		"$@"
		return
	fi

	# output passes through a pipe: a guest must not touch our terminal
	exec {out}> >(exec cat)
	cat=$!
	setsid timeout -s KILL "$TIMEOUT" "${REAL_TIME[@]}" "$@" </dev/null >&"$out" {out}>&- &
	guest=$!
	guest_watch "$guest" {out}>&- >/dev/null 2>&1 &
	watch=$!
	exec {out}>&-
	# the guest makes a session of its own, under timeout
	# shellcheck disable=SC2064 # that guest, not a later one
	trap "pkill -KILL -P $guest; kill $watch 2>/dev/null; exit 130" INT TERM HUP
	wait "$guest" || status=$?
	trap - INT TERM HUP
	kill "$watch" 2>/dev/null || true
	wait "$cat" || true
	return "$status"
}

# guest_prepare: build everything that a guest with that KERNEL needs
guest_prepare()
{
	local needed packages

	case $KERNEL in
	uml* | host) needed=(build provider traffic) ;;
	*) needed=(build provider traffic qemu) ;;
	esac
	packages_look_up "${needed[@]}"
	need_packages "${needed[@]}" &	# while kernel packages are fetched
	packages=$!
	kernel_choose "$KERNEL"
	wait "$packages"
	rootfs_prepare "$RDMA"
	provider_build "$RDMA_CORE" &	# in parallel with the driver
	driver_build "$KERNEL"
	wait
	provider_build "$RDMA_CORE"
}

# no_boot: the guest was killed because its session did not begin
no_boot()
{
	[ -e "$JOB/hangs" ] && [ ! -e "$JOB/begun" ] || return
	echo "lab: $KERNEL did not boot, kernel log: $RESULTS/kernel.log"
	tail -n 20 "$RESULTS/kernel.log"
} >&2

# guest_life COMMAND...: from boot to verdict
guest_life()
{
	local status=0

	results_make "$@"
	kernel_boot || status=$?
	kernel_verdict "$status"
}

# kernel_verdict STATUS: the exit status of a run, with a message if it is not 0
kernel_verdict()
{
	local log=$RESULTS/kernel.log status=$1 bad

	if ((status == 137)) && [ ! -e "$JOB/status" ]; then
		no_boot || {
			echo "lab: timed out after $TIMEOUT s, kernel log: $log"
			tail -n 10 "$log"
		} >&2
		exit 124
	fi
	# messages that a healthy kernel does not print
	bad=$(grep -aE -m 1 -A 40 -f "$REPO/selftests/lib/bad-log" "$log" || true)
	if [ -z "$bad" ] && [ -s "$RESULTS/kmemleak" ]; then
		bad=$(head -n 40 "$RESULTS/kmemleak")
	fi
	if [ -z "$bad" ] && [ ! -e "$JOB/status" ]; then
		bad=$(tail -n 20 "$log")
		[ -n "$bad" ] || bad="the guest said nothing"
	fi
	if [ -n "$bad" ]; then
		printf 'lab: the kernel complained, kernel log: %s\n%s\n' \
			"$log" "$bad" >&2
		exit 99
	fi
	status=$(cat "$JOB/status")
	((status == 0)) ||
		echo "lab: the command returned $status, kernel log: $log" >&2
	exit "$status"
}
