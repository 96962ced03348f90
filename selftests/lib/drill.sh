# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the runner of drills and its scripts; source it after ktap.sh
#
#   drill_make               sets $drill, the program: built here, unless selftests/run
#                            or "make install" has done it
#   drill_scripts            prints the names of all scripts
# shellcheck shell=bash

drill_dir=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../drill")
drill=

drill_make()
{
	drill=$drill_dir/../build/drill/drill
	[ ! -x "$drill" ] || return 0
	drill=$drill_dir/../../build/drill/drill
	make -sq -C "$drill_dir" OUT="${drill%/*}" && return
	drill=$(mktemp -d)/drill
	make -s -C "$drill_dir" OUT="${drill%/*}"
}

drill_scripts()
{
	find "$drill_dir" -name '*.drill' -printf '%P\n' | sort
}
