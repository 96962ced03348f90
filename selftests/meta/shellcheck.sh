#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - shellcheck has nothing to say
# usage: selftests/meta/shellcheck.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

need git shellcheck

# scripts: all that end in .sh or begin as one
scripts()
{
	local file first

	git ls-files -co --exclude-standard | while IFS= read -r file; do
		[ -f "$file" ] || continue
		IFS= read -r first <"$file" 2>/dev/null
		if [[ $file == *.sh || $first =~ ^'#!'.*(/| )(ba|da)?sh( |$) ]]; then
			echo "$file"
		fi
	done
}

mapfile -t listed < <(scripts 2>/dev/null)

# What is sourced is checked for itself, where it is depends on the caller
# (SC1090, SC1091), and its variables are for others (SC2034).
ktap_plan "${#listed[@]}"
for script in "${listed[@]}"; do
	check "$script" \
		shellcheck --severity=warning --exclude=SC1090,SC1091,SC2034 "$script"
done
ktap_end
