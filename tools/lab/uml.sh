# SPDX-License-Identifier: GPL-2.0
# srnic lab - the user-mode Linux kernels: built from Debian's kernel source
# shellcheck shell=bash

# kernel_fragments KERNEL: the configuration, later files win.
kernel_fragments()
{
	echo "$LAB/config/uml.config"
	[ "$1" = uml ] || echo "$LAB/config/$1.config"
}

kernel_key()
{
	local files

	mapfile -t files < <(kernel_fragments "$1")
	{
		grep -hE '^(# )?CONFIG_' "${files[@]}"
		grep -v '^#' "$LAB/uml-edit"
		gcc -dumpfullversion
	} | sha256sum | cut -c1-12
}

# uml_source: the newest 7.x source that apt has, edited; prints its folder.
# One that is already here serves: only 'prepare --refresh' looks again.
uml_source()
{
	local name version deb dir edits

	edits=$(hash_of "$LAB/uml-edit")
	dir=$(find "$CACHE" -maxdepth 1 -name "linux-7.*-$edits" | sort -V | tail -n 1)
	if [ -n "$dir" ] && [ -z "${REFRESH:-}" ]; then
		echo "$dir"
		return
	fi

	lab_apt_update
	read -r name version < <(newest '^linux-source-7\.[0-9]+$') ||
		die "apt has no linux-source-7.x"
	dir=$CACHE/linux-${version//[^0-9a-z.+-]/.}-$edits
	if [ ! -d "$dir" ]; then
		step "fetching $name $version"
		deb=$(fetch_deb "$name" "$version")
		step "unpacking it"
		rm -rf "$dir.new"
		mkdir "$dir.new"
		dpkg-deb --fsys-tarfile "$deb" |
			tar -xO --wildcards '*.tar.xz' |
			tar -xJ --strip-components=1 -C "$dir.new"
		"$LAB/uml-edit" "$dir.new"
		mv "$dir.new" "$dir"
		rm "$deb"
	fi
	echo "$dir"
}

# config_holds FILE: every line of the fragments came through olddefconfig.
config_holds()
{
	local line

	while read -r line; do
		case $line in
		*=n) line="${line%=n}=y"; ! grep -qxF "$line" "$1" ;;
		CONFIG_*) grep -qxF "$line" "$1" ;;
		*) continue ;;
		esac || die "the kernel configuration lost '$line'"
	done < <(cat "${@:2}" | tac | awk -F'[= ]' '!seen[$1 == "#" ? $2 : $1]++')
}

# kernel_build KERNEL DIR: DIR/src, DIR/obj and DIR/tree (its modules).
kernel_build()
{
	local dir=$2 files log=$CACHE/log/$1 mk

	mapfile -t files < <(kernel_fragments "$1")
	mkdir -p "$dir/obj"
	ln -sfn "$(uml_source)" "$dir/src"
	mk=(make -C "$dir/src" O="$dir/obj" ARCH=um -j"$JOBS")

	step "configuring kernel $1"
	quietly "$log-config" "${mk[@]}" tinyconfig
	(cd "$dir/obj" && quietly "$log-merge" \
		"$dir/src/scripts/kconfig/merge_config.sh" -m .config "${files[@]}")
	quietly "$log-config" "${mk[@]}" olddefconfig
	config_holds "$dir/obj/.config" "${files[@]}"
	quietly "$log-prepare" "${mk[@]}" modules_prepare

	step "building kernel $1 (10 minutes on two cores, log: $log-build)"
	publish "$1" "$dir"
	quietly "$log-build" "${mk[@]}" all
	quietly "$log-install" "${mk[@]}" INSTALL_MOD_PATH="$dir/tree/usr" \
		modules_install
	rm -f "$dir"/tree/usr/lib/modules/*/{build,source}
}

# kernel_make DIR: the arguments that make kbuild build for this kernel.
kernel_make()
{
	echo -C "$1/src" O="$1/obj" ARCH=um
}

# uml_boot: runs the guest with the console on standard output and the kernel
# log in RESULTS; the lab's variables say what.
kernel_boot()
{
	local con=con0=null,fd:1

	[ -z "$INTERACTIVE" ] || con=con0=fd:0,fd:1
	guest_run "$KERNEL_DIR/obj/linux" seccomp=on mem="$MEM" ncpus="$CPUS" \
		${FAST_IRQ:+"$FAST_IRQ"} \
		uml_dir="$JOB" umid=guest initrd="$(initramfs_make)" \
		con=null "$con" con1=null,fd:2 console=tty1 loglevel=8 \
		printk.time=1 lab.fs=hostfs \
		lab.lower="$DRIVER_TREE${PROVIDER_TREE:+:$PROVIDER_TREE}:$ROOTFS" \
		lab.repo="$REPO,$REPO" lab.results="$RESULTS,$RESULTS" \
		2>"$RESULTS/kernel.log"
}

KERNEL_TTY=/dev/tty0
