# SPDX-License-Identifier: GPL-2.0
# srnic selftests - commands of the documentation, run exactly as printed there
#
#   recipe NAME NS [VARIABLE=VALUE...]   run the commands below ".. recipe: NAME"
#                            in Documentation/security.rst on host NS
# shellcheck shell=bash
# shellcheck disable=SC2154 # netns.sh says where the selftests are

recipe_text()
{
	awk -v mark=".. recipe: $1" '
		$0 == mark { found = 1; next }
		found && /^  / { print substr($0, 3); lines++; next }
		found && lines && /^[^ ]/ { exit }
		found && lines { print "" }
		END { exit !lines }' "$selftests/../Documentation/security.rst"
}

recipe()
{
	local name=$1 ns=$2 text

	shift 2
	text=$(recipe_text "$name") || return
	on "$ns" env "$@" bash -euc "$text"
}
