# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the programs of a folder
#
#   programs_make FOLDER [NAME]  sets $programs to the folder of the programs, which
#                            "make install" or selftests/run has built as build/NAME;
#                            if neither has, it builds them
# shellcheck shell=bash

programs_home=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
programs=

programs_make()
{
	local name=${2:-$1}

	programs=$programs_home/build/$name
	[ ! -d "$programs" ] || return 0
	# programs cross-compiled by the lab have the processor in that name
	for programs in "$programs_home/../build/$name"{-"$(uname -m)",}; do
		make -sq -C "$programs_home/$1" OUT="$programs" && return
	done
	programs=$(mktemp -d)
	make -s -C "$programs_home/$1" OUT="$programs"
}
