# SPDX-License-Identifier: GPL-2.0
# srnic selftests - a machine with a disk of its own, as Debian makes it
#
#   machine_new SUITE            a root file system with that release's kernel
#   machine_has SUITE PACKAGE... and what apt installs there
#   on_disk SUITE COMMAND...     with it as the root, on this kernel
#   machine_disk SUITE SCRIPT    its disk; at each start the machine finds its network and
#                                runs that script of selftests/install, whose TAP goes
#                                out by the second serial line
#   machine_start SUITE PHASE    until it goes out; phase=PHASE is on its command line
#
# QEMU starts it with the kernel and the initramfs that apt has installed.  FLAVOUR is
# that of the kernel; $work is a directory for the root file system and the disk.
# shellcheck shell=bash

. "${selftests:?}/../tools/lab/lib.sh"
. "$LAB/rootfs.sh"
. "$LAB/qemu.sh"
set +e

FLAVOUR=${FLAVOUR:-amd64}

machine_new()
{
	local packages=systemd-sysv,udev,dbus,iproute2,linux-image-$FLAVOUR

	need_packages qemu rootfs
	lab_apt_update
	rootfs_find "machine-$1" "$packages" || rootfs_make "$1" "$packages"
	cp -a "$ROOTFS" "${work:?}/$1"
	cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
	on_disk "$1" apt-get -q update
}

on_disk()
{
	# shellcheck disable=SC2016
	unshare --mount --pid --fork bash -c 'mount --rbind /dev "$1/dev" &&
		mount -t proc proc "$1/proc" && exec chroot "$@"' - "$work/$1" \
		env DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${@:2}"
}

machine_has()
{
	on_disk "$1" apt-get -qy install "${@:2}"
}

machine_disk()
{
	local dir=$work/$1

	printf '[Match]\nName=en* eth*\n[Network]\nDHCP=ipv4\n' \
		>"$dir/etc/systemd/network/wired.network"
	install -D -t "$dir/root/selftests/install" "$2" &&
		install -D -t "$dir/root/selftests/lib" "$selftests/lib/ktap.sh" || return
	cat >"$dir/etc/systemd/system/guest.service" <<-END
		[Unit]
		Wants=network-online.target
		After=network-online.target
		[Service]
		Type=idle
		Environment=HOME=/root
		StandardOutput=file:/dev/ttyS1
		StandardError=inherit
		ExecStart=/root/selftests/install/$(basename "$2")
		ExecStopPost=systemctl poweroff
		[Install]
		WantedBy=multi-user.target
	END
	on_disk "$1" systemctl enable systemd-networkd guest || return
	echo "nameserver 10.0.2.3" >"$work/$1/etc/resolv.conf"	# QEMU's
	truncate -s 8G "$dir.disk" && mke2fs -q -t ext4 -d "$dir" "$dir.disk"
}

# QEMU 7.2 leaves flags behind CMPXCHG16B that an interrupt makes real, and a kernel
# without that instruction does well.
machine_start()
{
	local said=$work/$1.$2 status

	# it installs packages, or runs demo and tests, under emulation
	KTAP_BOUND=10800 bounded qemu-system-x86_64 \
		-accel "tcg,thread=$(qemu_thread)" -cpu max,-cx16 -smp 2 -m 2G \
		-nographic -no-reboot -monitor none -device virtio-rng-pci \
		-nic user,model=virtio-net-pci \
		-drive "file=$work/$1.disk,if=virtio,format=raw,cache=unsafe" \
		-kernel "$(echo "$work/$1"/boot/vmlinuz-*)" \
		-initrd "$(echo "$work/$1"/boot/initrd.img-*)" \
		-append "root=/dev/vda rw console=ttyS0 phase=$2" \
		-serial "file:$said.console" -serial "file:$said" </dev/null
	status=$?
	tr -d '\r' <"$said"
	grep -q '^# end' "$said" || tail -n 20 "$said.console" | sed 's/^/# /'
	return "$status"
}
