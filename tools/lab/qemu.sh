# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernels booted by QEMU with their root file system on 9p
# shellcheck shell=bash

KERNEL_TTY=/dev/ttyS1
KERNEL_CONSOLE=ttyS0
KERNEL_LINE='/dev/vport*'
QEMU_PROGRAM=qemu-system-x86_64

# qemu_accel: use KVM if a trial boot of a stock kernel with it succeeds
qemu_accel()
{
	local file
	file=$KERNEL_DIR/accel-$(uname -r)

	if [ ! -e "$file" ]; then
		if [ -w /dev/kvm ] && trial_boot; then
			echo kvm >"$file"
		else
			echo "tcg,thread=$(qemu_thread)" >"$file"
		fi
		step "QEMU will use $(cat "$file")"
	fi
	cat "$file"
}

qemu_version()
{
	qemu-system-x86_64 --version | sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p'
}

# qemu_thread: one thread per processor of the guest, if QEMU supports that
qemu_thread()
{
	if (($(qemu_version) < 10)); then
		echo single
	else
		echo multi
	fi
}

trial_boot()
{
	local log=$CACHE/log/kvm-trial

	step "trying KVM"
	timeout -s KILL 25 qemu-system-x86_64 -accel kvm -cpu host -m 1G \
		-nographic -no-reboot -monitor none -kernel "$(kernel_image)" \
		-append 'console=ttyS0 panic=-1' -serial "file:$log" \
		</dev/null >/dev/null 2>&1 || return 1
	# without an initramfs this panic is a successful boot
	grep -qE 'Unable to mount root|No working init found' "$log"
}

# share TAG PATH rw|ro: share a host folder with the guest
share()
{
	QEMU+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap$([ "$3" = rw ] || echo ,readonly=on)"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# qemu_machine: the options for machine and processor.  With icount, time advances by one
# nanosecond per instruction, and in real time while the guest is idle: without sleep=on it
# would jump to the next timeout whenever the guest waits for the host.  Fast string
# instructions are disabled then, because QEMU counts each byte of "rep movsb".
qemu_machine()
{
	local accel cpu=max

	if [ -n "$ICOUNT" ]; then
		accel='tcg,thread=single -icount shift=0,sleep=on' cpu=max,-erms,-fsrm
	elif [ -e "$JOB/hangs" ]; then
		accel=tcg,thread=$(qemu_thread)
	else
		accel=$(qemu_accel)
		[ "$accel" != kvm ] || cpu=host
	fi
	echo "-accel $accel -cpu $cpu -smp $CPUS ${PLUGIN:+-plugin $PLUGIN}"
}

# qemu_nic: the options for the Ethernet device.  A tap has vnet headers and so offloads; a
# socket has neither.
qemu_nic()
{
	local device

	[ -n "$MACHINE" ] || { echo -nic none; return; }
	device=virtio-net-pci,netdev=wire,mac=$(wire_mac)
	if [ -z "$QUEUES" ]; then
		echo -device "$device" \
			-netdev "dgram,id=wire,local.type=fd,local.str=$WIRE"
		return
	fi
	((QUEUES == 1)) || device+=,mq=on,vectors=$((2 * QUEUES + 2))
	echo -device "$device" -netdev \
		"tap,id=wire,ifname=wire$MACHINE,script=no,downscript=no,queues=$QUEUES"
}

# qemu_line: the options for KERNEL_LINE
qemu_line()
{
	[ -z "$MACHINE" ] || echo -device virtio-serial-pci -chardev \
		"socket,id=line,fd=$LINE" -device virtserialport,chardev=line,name=line
}

# qemu_serial: the options for KERNEL_TTY
qemu_serial()
{
	echo -serial stdio
}

qemu_run()
{
	local initrd line lower=driver machine nic serial QEMU=()

	need_packages qemu
	initrd=$(kernel_initrd) || exit
	read -ra machine < <(qemu_machine)
	read -ra nic < <(qemu_nic)
	read -ra line < <(qemu_line)
	read -ra serial < <(qemu_serial)
	share driver "$DRIVER_TREE" ro
	if [ -n "$PROVIDER_TREE" ]; then
		share provider "$PROVIDER_TREE" ro
		lower+=:provider
	fi
	share root "$ROOTFS" ro
	share repo "$REPO" ro
	share results "$RESULTS" rw

	guest_run "$QEMU_PROGRAM" "${machine[@]}" \
		-m "$MEM" -nographic -no-reboot -monitor none "${nic[@]}" \
		"${line[@]}" -device virtio-rng-pci "${QEMU[@]}" \
		-kernel "$(kernel_image)" \
		-initrd "$initrd" \
		-serial "file:$RESULTS/kernel.log" "${serial[@]}" \
		-append "console=$KERNEL_CONSOLE loglevel=7 oops=panic panic=-1 \
$KERNEL_ARGS $APPEND lab.fs=9p lab.lower=$lower:root lab.repo=repo,$REPO \
lab.results=results,$RESULTS"
}

# kernel_boot: QEMU may hang before the kernel has booted, especially with KVM; it is then
# started again, except with two machines, where the other one would not wait.
kernel_boot()
{
	local status=0

	qemu_run || status=$?
	if [ -z "$MACHINE" ] && no_boot; then
		status=0
		qemu_run || status=$?
	fi
	return "$status"
}
