# SPDX-License-Identifier: GPL-2.0
# srnic lab - a kernel by name, built once and cached
# shellcheck shell=bash

# kernel_file KERNEL: print its name as it appears in names of files
kernel_file()
{
	local name=$1

	[[ $name != tree:* ]] || name=tree$(realpath -m "${1#tree:}")
	echo "${name//\//-}"
}

# kernel_run COMMAND...: run it where modules for the kernel are built; the default is the
# host
kernel_run()
{
	"$@"
}

# kernel_fetch KERNEL DIR: fetch the inputs of kernel_build; needs no installed packages
kernel_fetch()
{
	:
}

# kernel_load KERNEL: define kernel_key, kernel_build and kernel_make for it
kernel_load()
{
	case $1 in
	uml | uml-debug | uml-leak | uml-ulp) . "$LAB/uml.sh" ;;
	kcsan) . "$LAB/kcsan.sh" ;;
	tree:*) . "$LAB/tree.sh" ;;
	debian-arm64) . "$LAB/arm64.sh" ;;
	debian | debian-rt | debian-[0-9]*.[0-9]*) . "$LAB/debian.sh" ;;
	host) . "$LAB/host.sh" ;;
	*) die "no kernel '$1': uml uml-debug uml-leak uml-ulp kcsan debian \
debian-rt debian-arm64 debian-VERSION[-FLAVOUR] tree:DIR host" ;;
	esac
}

# publish KERNEL DIR: a symbolic link whose name does not change with the hash
publish()
{
	mkdir -p "$CACHE/current"
	ln -sfn "$2" "$CACHE/current/$(kernel_file "$1")"
}

# tree_depmod TREE VERSION: depmod requires /lib.  It replaces its files and never writes
# into them, so hard links to them keep their contents.
tree_depmod()
{
	mkdir "$1/lib"
	ln -s ../usr/lib/modules "$1/lib/modules"
	depmod -b "$1" "$2"
	rm -r "${1:?}/lib"
}

kernel_make_once()
{
	local dir=$2

	if [ ! -e "$dir/done" ] || [ -n "${REFRESH:-}" ]; then
		rm -f "$dir/done"
		mkdir -p "$dir"
		kernel_fetch "$1" "$dir"
		need_packages build
		kernel_build "$1" "$dir"
		touch "$dir/done"
		step "kernel $1 is ready"
	fi
	publish "$1" "$dir"
}

# kernel_prepare KERNEL: set KERNEL_DIR, and build the kernel if it is not cached
kernel_prepare()
{
	local file

	kernel_load "$1"
	file=$(kernel_file "$1")
	KERNEL_DIR=$CACHE/kernel/$file-$(kernel_key "$1")
	[ -e "$KERNEL_DIR/done" ] && [ -z "${REFRESH:-}" ] &&
		[ "$(readlink "$CACHE/current/$file")" = "$KERNEL_DIR" ] && return
	locked "$(basename "$KERNEL_DIR")" kernel_make_once "$1" "$KERNEL_DIR"
}

# kernel_choose NAME[,NAME...]: prepare the first that is available; set KERNEL
kernel_choose()
{
	local rest=$1,

	while KERNEL=${rest%%,*} rest=${rest#*,} && [ -n "$rest" ]; do
		! "$LAB/prepare" "$KERNEL" || break
	done
	kernel_prepare "$KERNEL"
}
