# SPDX-License-Identifier: GPL-2.0
# srnic lab - the driver and the provider, built for one kernel and one rdma-core
# shellcheck shell=bash

REPO_ID=$(echo "$REPO" | sha256sum | cut -c1-8)

# the kernel module of a selftest
TEST_MODULES=selftests/ulp/test_modules

# driver_copy DIR: copy the sources of the driver and of the selftest's module, for a build
# outside the tree.  Objects of the last build stay, and only changed files get a new timestamp.
driver_copy()
{
	local what

	mkdir -p "$1"
	for what in drivers include tools/probe Kbuild "$TEST_MODULES"; do
		[ ! -e "$REPO/$what" ] ||
			rsync -rlpR --checksum --delete \
				--filter='P *.o' --filter='P .*.cmd' \
				--filter='P *.mod*' --filter='P *.ko' \
				--filter='P *.gcno' \
				"$REPO/./$what" "$1/"
	done
}

# driver_make DIR: compile in a copy, so that the repository stays clean and the next build
# is incremental
driver_make()
{
	local src=$1/src

	driver_copy "$src"
	# shellcheck disable=SC2046 # a list of arguments
	quietly "$1/log" kernel_run make $(kernel_make "$KERNEL_DIR") \
		M="$src" ${COVERAGE:+GCOV_PROFILE=y} -j"$JOBS" modules
	[ ! -e "$src/$TEST_MODULES" ] || test_modules_make "$1"
}

# test_modules_make DIR: an old module is not used if it cannot be compiled
test_modules_make()
{
	rm -f "$1/src/$TEST_MODULES"/*.ko
	# shellcheck disable=SC2046 # a list of arguments
	quietly "$1/log.tests" kernel_run make $(kernel_make "$KERNEL_DIR") \
		M="$1/src/$TEST_MODULES" -j"$JOBS" modules
}

# driver_stage DIR TREE: a tree of all modules of that kernel and ours, ready for modprobe;
# for --coverage with the compiler's notes, which gcov reads
driver_stage()
{
	local version new=$2.new

	rm -rf "$new"
	mkdir -p "$new"
	cp -al "$KERNEL_DIR/tree/usr" "$new/"
	version=$(ls "$new/usr/lib/modules")
	if [ -e "$REPO/drivers/srnic/Makefile" ]; then
		mkdir -p "$new/usr/lib/modules/$version/extra"
		find "$1/src" -name '*.ko' -exec \
			cp -t "$new/usr/lib/modules/$version/extra" {} +
	fi
	[ -z "$COVERAGE" ] ||
		rsync -rm --include='*/' --include='*.gcno' --exclude='*' \
			"$1/src/drivers/srnic/" "$new/coverage"
	tree_depmod "$new" "$version"
	mv "$new" "$2"
}

driver_make_once()
{
	[ ! -d "$2" ] || return 0
	if [ -e "$REPO/drivers/srnic/Makefile" ]; then
		step "building srnic.ko for $1"
		driver_make "$3"
	fi
	driver_stage "$3" "$2"
	# four generations are kept: a guest may still be using an older one
	find "$3" -maxdepth 1 -name 'tree-*' -mmin +60 -printf '%T@ %p\n' |
		sort -n | head -n -4 | cut -d' ' -f2 | xargs -r rm -rf
}

# driver_build KERNEL: sets DRIVER_TREE.
driver_build()
{
	local base key

	base=$CACHE/build/$REPO_ID/$(basename "$KERNEL_DIR")${COVERAGE:+-coverage}
	key=$(hash_of "$REPO/drivers" "$REPO/include" "$REPO/tools/probe" \
		"$REPO/Kbuild" "$REPO/$TEST_MODULES")
	DRIVER_TREE=$base/tree-$key
	mkdir -p "$base"
	[ -d "$DRIVER_TREE" ] ||
		locked "build-$REPO_ID-$(kernel_file "$1")" \
			driver_make_once "$1" "$DRIVER_TREE" "$base"
}

provider_make_once()
{
	[ ! -d "$2" ] || return 0
	step "building the provider for rdma-core $1"
	rm -rf "$2.new" "$2.out"
	mkdir -p "$2.new" "$2.out"
	quietly "$CACHE/log/provider-$1" "$REPO/tools/provider/build" \
		--rdma-core "$1" --out "$2.out"
	install -D -t "$2.new/usr/lib/x86_64-linux-gnu/libibverbs" \
		"$2.out"/libsrnic-rdmav*.so
	install -D -m 644 -t "$2.new/etc/libibverbs.d" "$2.out/srnic.driver"
	rm -r "$2.out"
	mv "$2.new" "$2"
}

# provider_build RDMA-CORE: sets PROVIDER_TREE
provider_build()
{
	local key

	PROVIDER_TREE=
	[ -x "$REPO/tools/provider/build" ] || return 0
	need_packages provider
	key=$(hash_of "$REPO/tools/provider" "$REPO/include/uapi")
	PROVIDER_TREE=$CACHE/build/$REPO_ID/provider-$1-$key
	[ -d "$PROVIDER_TREE" ] ||
		locked "provider-$REPO_ID-$1" provider_make_once "$1" "$PROVIDER_TREE"
}
