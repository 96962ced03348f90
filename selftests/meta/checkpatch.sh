#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the kernel's checkpatch --strict reports nothing
# usage: selftests/meta/checkpatch.sh
#
# Except for what checkpatch.known lists, by file and with the reason.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/tree.sh

CHECKPATCH=${SRNIC_CACHE:-$HOME/.cache/srnic}/current/uml/src/scripts/checkpatch.pl
KNOWN=selftests/meta/checkpatch.known

need perl
[ -f "$CHECKPATCH" ] || skip_all "no kernel source with a checkpatch.pl"

# mistakes FILE: comma-separated types of false positives of checkpatch for FILE
mistakes()
{
	local pattern types

	while read -r pattern types; do
		# shellcheck disable=SC2053 # a pattern is what it is
		[[ -z $pattern || $pattern == '#'* || $1 != $pattern ]] || echo "$types"
	done <"$KNOWN" | paste -sd,
}

# clean_file FILE TYPES
clean_file()
{
	perl "$CHECKPATCH" --strict --no-tree --terse --show-types --quiet \
		${2:+--ignore "$2"} -f "$1"
}

# clean FILE...
clean()
{
	local file key status=0 types

	for file; do
		types=$(mistakes "$file")
		key=$(echo "$file $types" | cat - "$file" "$CHECKPATCH" | sha256sum)
		known "${key%% *}" clean_file "$file" "$types" || status=1
	done
	return "$status"
}

mapfile -t listed < <(tree_files '*.[ch]')
mapfile -t folders < <(printf '%s\n' "${listed[@]%/*}" | sort -u)

ktap_plan "${#folders[@]}"
for folder in "${folders[@]}"; do
	mapfile -t files < <(printf '%s\n' "${listed[@]}" |
		grep -x "$folder/[^/]*")
	check "$folder" clean "${files[@]}"
done
ktap_end
