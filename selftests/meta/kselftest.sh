#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the kselftest folders work with the kernel's lib.mk and with ours
# usage: selftests/meta/kselftest.sh
#
# KSFT is the kernel's tools/testing/selftests; the lab has a source.

selftests=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$selftests/lib/ktap.sh"

CACHE=${SRNIC_CACHE:-$HOME/.cache/srnic}
KSFT=${KSFT:-$(printf '%s\n' "$CACHE"/linux-7*/tools/testing/selftests | tail -n 1)}
need make rsync
[ -e "$KSFT/lib.mk" ] || skip_all "no kernel source here, say where by KSFT"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# make_folder FOLDER ARGUMENT...
make_folder()
{
	local folder=$1

	shift
	make -s -C "$selftests/$folder" COLLECTION="$folder" "$@"
}

same_tests()
{
	diff <(make_folder "$1" emit_tests) <(make_folder "$1" KSFT="$KSFT" emit_tests)
}

# same_files FOLDER: both install the same files, except for permissions
same_files()
{
	local how

	for how in '' "KSFT=$KSFT"; do
		make_folder "$1" install INSTALL_PATH="$work/x$how/$1" OUT="$work/built" \
			SRC_PATH="$selftests" OBJ_PATH="$work/x$how" $how || return
	done
	diff -r "$work/x" "$work/xKSFT=$KSFT"
}

# configured FOLDER: the lab's kernels have the options that the folder requires
configured()
{
	local option

	while read -r option; do
		grep -q "^${option%=*}=[ym]" "$CACHE/current/uml-debug/obj/.config" \
			"$selftests/../tools/lab/config/uml-ulp.config" ||
			{ echo "$option"; return 1; }
	done <"$selftests/$1/config"
}

folders=$(make -s -C "$selftests" emit_tests | cut -d: -f1 | uniq)
mkdir "$work/built"
ktap_plan $((3 * $(wc -l <<<"$folders")))
for folder in $folders; do
	check "$folder: the tests"		same_tests "$folder"
	check "$folder: what is installed"	same_files "$folder"
	if [ -e "$CACHE/current/uml-debug/obj/.config" ]; then
		check "$folder: config"		configured "$folder"
	else
		skip "$folder: config"		"the lab has not made uml-debug"
	fi
done
ktap_end
