# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernel "debian": the stock 6.12 that this host's Debian ships,
# unpacked in the cache and booted by QEMU with its root over 9p
# shellcheck shell=bash

KERNEL_TTY=/dev/ttyS1

debian_number()
{
	(. /etc/os-release && echo "$VERSION_ID")
}

kernel_key()
{
	echo "6.12-deb$(debian_number)" | sha256sum | cut -c1-12
}

# unpack PACKAGE VERSION DIR
unpack()
{
	local deb

	step "fetching $1"
	deb=$(fetch_deb "$1" "$2")
	dpkg-deb -x "$deb" "$3"
	rm "$deb"
}

kernel_build()
{
	local dir=$2 image version release base p

	lab_apt_update
	p="^linux-image-6\.12\.[0-9]+\+deb$(debian_number)(\.[0-9]+)?-amd64$"
	read -r image version < <(newest "$p") ||
		die "apt has no 6.12 image for this Debian"
	release=${image#linux-image-}
	base=${release%-amd64}

	rm -rf "$dir/pkg" "$dir/tree"
	for p in "linux-image-$release" "linux-headers-$release" \
		"linux-headers-$base-common" "linux-kbuild-$base"; do
		unpack "$p" "$version" "$dir/pkg"
	done

	mkdir -p "$dir/tree/usr/lib"
	mv "$dir"/pkg/boot/vmlinuz-* "$dir/vmlinuz"
	find "$dir/pkg" -path '*/lib/modules' -exec mv -T {} "$dir/modules" \; -prune
	mv "$dir/modules" "$dir/tree/usr/lib/modules"
	rm -f "$dir"/tree/usr/lib/modules/*/{build,source}
	tree_depmod "$dir/tree" "$release"
	headers_relocate "$dir/pkg/usr" "$release" "$base"
	ln -sfn "pkg/usr/src/linux-headers-$base-common" "$dir/src"
	ln -sfn "pkg/usr/src/linux-headers-$release" "$dir/obj"
}

# headers_relocate USR RELEASE BASE: the headers name each other by absolute
# paths; make them name the cache.
headers_relocate()
{
	local obj=$1/src/linux-headers-$2 link

	grep -rlI -e "/usr/src/linux-headers-$3" -e "/usr/lib/linux-kbuild" \
		"$obj" --include='Makefile*' --include='*.mk' |
		xargs -r sed -i "s@/usr/\(src/linux-headers\|lib/linux-kbuild\)@$1/\1@g"
	find "$1/src" -type l -lname '*linux-kbuild-*' | while read -r link; do
		ln -sfn "$1/lib/linux-kbuild-$3/$(basename "$link")" "$link"
	done
}

# BTF for our module would need pahole, and nothing here reads it.
kernel_make()
{
	echo -C "$1/obj" CONFIG_DEBUG_INFO_BTF_MODULES=
}

# qemu_accel: KVM where a stock kernel boots under it, which a trial shows.
qemu_accel()
{
	local file
	file=$KERNEL_DIR/accel-$(uname -r)

	if [ ! -e "$file" ]; then
		if [ -w /dev/kvm ] && trial_boot; then
			echo kvm >"$file"
		elif (($(qemu_version) < 10)); then
			echo tcg,thread=single >"$file"
		else
			echo tcg,thread=multi >"$file"
		fi
		step "QEMU will use $(cat "$file")"
	fi
	cat "$file"
}

qemu_version()
{
	qemu-system-x86_64 --version | grep -oE '[0-9]+' | head -n 1
}

trial_boot()
{
	local log=$CACHE/log/kvm-trial

	step "trying KVM"
	timeout -s KILL 25 qemu-system-x86_64 -accel kvm -cpu host -m 1G \
		-nographic -no-reboot -monitor none -kernel "$KERNEL_DIR/vmlinuz" \
		-append 'console=ttyS0 panic=-1' -serial "file:$log" \
		</dev/null >/dev/null 2>&1 || return 1
	# without an initramfs it ends here, whole
	grep -q 'Unable to mount root' "$log"
}

# share TAG PATH rw|ro: a host folder for the guest.
share()
{
	QEMU+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap$([ "$3" = rw ] || echo ,readonly=on)"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# qemu_machine: the options that say what executes the guest's instructions.  With
# icount time passes by the instruction, one a nanosecond, and in an idle guest as
# for everybody: without sleep=on it would jump to the next time-out whenever the
# guest waits for the host.  String moves are left to loops there, for QEMU takes
# each byte of "rep movsb" for an instruction.
qemu_machine()
{
	local accel cpu=max

	if [ -n "$ICOUNT" ]; then
		echo -accel tcg,thread=single -icount shift=0,sleep=on \
			-cpu max,-erms,-fsrm -smp 1
		return
	fi
	accel=$(qemu_accel)
	[ "$accel" != kvm ] || cpu=host
	echo -accel "$accel" -cpu "$cpu" -smp "$CPUS"
}

kernel_boot()
{
	local lower=driver machine QEMU=()

	need_packages qemu
	read -ra machine < <(qemu_machine)
	share driver "$DRIVER_TREE" ro
	if [ -n "$PROVIDER_TREE" ]; then
		share provider "$PROVIDER_TREE" ro
		lower+=:provider
	fi
	share root "$ROOTFS" ro
	share repo "$REPO" ro
	share results "$RESULTS" rw

	guest_run qemu-system-x86_64 "${machine[@]}" \
		-m "$MEM" -nographic -no-reboot -monitor none -nic none \
		-device virtio-rng-pci "${QEMU[@]}" \
		-kernel "$KERNEL_DIR/vmlinuz" \
		-initrd "$(initramfs_make "$KERNEL_DIR/tree")" \
		-serial "file:$RESULTS/kernel.log" -serial stdio \
		-append "console=ttyS0 loglevel=7 oops=panic panic=-1 \
mitigations=off lab.fs=9p lab.lower=$lower:root lab.repo=repo,$REPO \
lab.results=results,$RESULTS"
}
