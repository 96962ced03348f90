#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# No test waits for time to pass or depends on it, except as listed in time.known.
# usage: selftests/meta/time.sh
#
# Tests wait for a state, with wait_for and bounded of ktap.sh, tap_bound() of tap.h and tap.py,
# wait_turn() of vrb.h.

HERE=$(dirname "$(readlink -f "$0")")
. "$HERE/../lib/ktap.sh"
cd "$HERE/.." || exit

# uses: "FILE<tab>LINE" for each line that has to do with time
uses()
{
	{
		files 'Makefile|*.mk|*.sh|*-guest|lib/*|run*' |
			lines '(^|[^-_.a-z"$])(sleep|timeout) [^=]|read .*-t |\b(SECONDS|EPOCHREALTIME)\b'
		files '*.c|*.h' | lines '\b(usleep|nanosleep|sleep|alarm|clock_gettime)\('
		files '*.py' | lines 'time\.(sleep|monotonic|time)|settimeout'
		files '*.drill' | lines '^wait |before='
	} | sort -u
}

# files PATTERN: names of files below this folder; both a path and a name may match
files()
{
	local file pattern="@($1)"

	shopt -s extglob
	while read -r file; do
		# shellcheck disable=SC2053 # a pattern
		[[ $file != $pattern && ${file##*/} != $pattern ]] || echo "$file"
	done < <(find . -type f -printf '%P\n' | grep -vE '^(unit/shim|build)/|__pycache__|^meta/time\.')
}

# lines REGEX <FILES: those that match and are no comments
lines()
{
	xargs grep -EH -e "$1" | sed -E 's/^([^:]*):[[:space:]]*/\1\t/' |
		grep -vE '^[^	]*	(#|\*|/\*)'
}

# known FILE LINE: an entry of time.known permits it; its number goes to $used
known()
{
	local file i=0 line reason

	while IFS=$'\t' read -r file line reason; do
		i=$((i + 1))
		# shellcheck disable=SC2053 # a pattern
		[[ $1 == $file && $2 == *"$line"* && -n $reason ]] || continue
		used[i]=1
		return
	done < <(grep -v '^#' meta/time.known)
	return 1
}

all_known()
{
	local file line status=0

	while IFS=$'\t' read -r file line; do
		known "$file" "$line" && continue
		echo "$file: $line"
		status=1
	done < <(uses)
	return "$status"
}

none_stale()
{
	local i=0 line status=0

	while read -r line; do
		i=$((i + 1))
		[ -z "${used[i]:-}" ] || continue
		echo "$line"
		status=1
	done < <(grep -v '^#' meta/time.known)
	return "$status"
}

# reads_all: where a pipe fails if one of its commands does, none of them stops to read early:
# whether the command before it is killed by SIGPIPE then is a matter of time
reads_all()
{
	local shells

	mapfile -t shells < <(grep -rlIE '^set -[a-z]+ pipefail|^\. .*lab/lib\.sh' . ../tools
		find ../tools/lab -name '*.sh')
	((${#shells[@]} > 5)) && ! grep -nE \
		'\|[[:space:]]*(head -n [0-9]|grep -[a-zA-Z]*[qm])|[{;][^{}"$]*\bexit *}' "${shells[@]}"
}

used=()
ktap_plan 3
check "each use of time is listed with its reason"	all_known
check "each entry of the list is used"			none_stale
check "no pipe depends on when its reader stops"		reads_all
ktap_end
