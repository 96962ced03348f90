# SPDX-License-Identifier: GPL-2.0
# srnic lab - kernels built from source with configuration fragments; the source is Debian's
# newest unless kernel_source says otherwise
# shellcheck shell=bash

# KERNEL_ENV: a prefix of the command that compiles the kernel, but not our module
KERNEL_ENV=()

# kernel_edition KERNEL: print what distinguishes it besides configuration and compiler
kernel_edition()
{
	grep -h '^[-+ @]' "$LAB"/patches/*.patch
}

# kernel_key KERNEL: kernel_compiler prints the version of the compiler
kernel_key()
{
	local files

	mapfile -t files < <(kernel_fragments "$1")
	{
		grep -hE '^(# )?CONFIG_' "${files[@]}"
		kernel_edition "$1"
		kernel_compiler
	} | sha256sum | cut -c1-12
}

# source_make_once: fetch and edit the newest 7.x source that apt has; print its folder.  A
# cached one is used, except by 'prepare --refresh'.
source_make_once()
{
	local name version deb dir edits

	edits=$(hash_of "$LAB/uml-edit" "$LAB/patches")
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
		rm -r "${deb%/*}"
	fi
	echo "$dir"
}

# kernel_source KERNEL: print the folder of its sources
kernel_source()
{
	locked source source_make_once
}

# config_holds FILE: every line of the fragments survived olddefconfig
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
	local dir=$2 files log mk src

	log=$CACHE/log/$(basename "$2")
	src=$(kernel_source "$1")
	mapfile -t files < <(kernel_fragments "$1")
	mkdir -p "$dir/obj"
	ln -sfn "$src" "$dir/src"
	read -ra mk < <(kernel_make "$dir")
	mk=(make "${mk[@]}" -j"$JOBS")

	step "configuring kernel $1"
	quietly "$log-config" "${mk[@]}" tinyconfig
	(cd "$dir/obj" && quietly "$log-merge" \
		"$dir/src/scripts/kconfig/merge_config.sh" -m .config "${files[@]}")
	quietly "$log-config" "${mk[@]}" olddefconfig
	config_holds "$dir/obj/.config" "${files[@]}"
	quietly "$log-prepare" "${mk[@]}" modules_prepare

	step "building kernel $1 (10 minutes on two cores, log: $log-build)"
	publish "$1" "$dir"
	quietly "$log-build" "${KERNEL_ENV[@]}" "${mk[@]}" all
	quietly "$log-install" "${mk[@]}" INSTALL_MOD_PATH="$dir/tree/usr" \
		modules_install
	rm -f "$dir"/tree/usr/lib/modules/*/{build,source}
}
