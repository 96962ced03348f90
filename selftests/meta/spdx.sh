#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - every file states its licence
# usage: selftests/meta/spdx.sh
#
# The driver and its ABI have the licence of the rest of RDMA.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/tree.sh

# files [PATTERN...]: the project's text files
files()
{
	local file

	tree_files "$@" | while IFS= read -r file; do
		case $file in
		COPYING | *.patch | */debian/* | selftests/*/config | selftests/*/settings) ;;
		*) ! grep -qI . "$file" || echo "$file" ;;
		esac
	done
}

# all_say EXPRESSION [PATTERN...]: their first lines have that licence
all_say()
{
	local expression=$1 file silent=0

	shift
	while IFS= read -r file; do
		head -n 3 "$file" | grep -Eq "SPDX-License-Identifier: $expression" && continue
		echo "$file"
		silent=1
	done < <(files "$@")
	return "$silent"
}

ktap_plan 3
check "every file has an identifier" all_say '[(A-Z]'
check "the driver is GPL-2.0 OR Linux-OpenIB" \
	all_say 'GPL-2\.0 OR Linux-OpenIB' 'drivers/srnic/*.[ch]'
check "the ABI is GPL-2.0 WITH Linux-syscall-note, or more" \
	all_say '.*GPL-2\.0(-only)? WITH Linux-syscall-note' 'include/uapi/*.h'
ktap_end
