# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the runner of drills and its scripts; source it after ktap.sh
#
#   drill_make               sets $drill to the program, builds it unless it exists
#   drill_scripts            prints the names of all scripts
# shellcheck shell=bash
# shellcheck disable=SC2154 # programs.sh says where they are

. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"

drill_dir=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../drill")
drill=

drill_make()
{
	programs_make drill && drill=$programs_dir/drill
}

drill_scripts()
{
	find "$drill_dir" -name '*.drill' -printf '%P\n' | sort
}
