# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the files of the source tree, from git or from a tarball
#
#   tree_files [PATTERN...]  prints those that match a pattern of bash, in which "*" matches
#                            "/" too; without a PATTERN all of them
#   tree_scripts             prints the shell scripts: files whose name ends in .sh or whose
#                            first line names a shell
#
# The current directory must be the top of the tree.
# shellcheck shell=bash

# tree_found: the files that .gitignore does not match, for a tree that git does not know
tree_found()
{
	local ignored=(-name .git) pattern

	while read -r pattern; do
		case $pattern in
		'' | '#'*) ;;
		*/) ignored+=(-o -type d -name "${pattern%/}") ;;
		*) ignored+=(-o -name "$pattern") ;;
		esac
	done <.gitignore
	find . \( "${ignored[@]}" \) -prune -o -type f -printf '%P\n' | LC_ALL=C sort
}

# tree_known: what git lists; fails without git, and in a tree whose owner git does not trust
tree_known()
{
	[ -e .git ] && git ls-files -co --exclude-standard 2>/dev/null
}

# shellcheck disable=SC2120 # callers pass arguments
tree_files()
{
	local file pattern

	{ tree_known || tree_found; } | while IFS= read -r file; do
		[ -f "$file" ] || continue
		for pattern in "${@:-*}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $pattern ]] || { echo "$file"; break; }
		done
	done
}

tree_scripts()
{
	local file first

	tree_files | while IFS= read -r file; do
		IFS= read -r first <"$file" 2>/dev/null
		if [[ $file == *.sh || $first =~ ^'#!'.*(/| )(ba|da)?sh( |$) ]]; then
			echo "$file"
		fi
	done
}
