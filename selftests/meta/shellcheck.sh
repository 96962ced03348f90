#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - shellcheck has nothing to say
# usage: selftests/meta/shellcheck.sh

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh
. selftests/lib/tree.sh

need shellcheck

mapfile -t listed < <(tree_scripts 2>/dev/null)

# What is sourced is checked for itself, where it is depends on the caller
# (SC1090, SC1091), and its variables are for others (SC2034).
ktap_plan "${#listed[@]}"
for script in "${listed[@]}"; do
	check "$script" \
		shellcheck --severity=warning --exclude=SC1090,SC1091,SC2034 "$script"
done
ktap_end
