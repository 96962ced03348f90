# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the programs of a folder
#
#   programs_make FOLDER [NAME]  sets $programs to the folder of the programs, which
#                            "make install" or selftests/run has built as build/NAME;
#                            if neither has, it builds them
# shellcheck shell=bash

programs=

programs_make()
{
	local here name=${2:-$1}

	here=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
	programs=$here/build/$name
	[ ! -d "$programs" ] || return 0
	# programs cross-compiled by the lab have the processor in that name
	for programs in "$here/../build/$name"{-"$(uname -m)",}; do
		make -sq -C "$here/$1" OUT="$programs" && return
	done
	programs=$(mktemp -d)
	make -s -C "$here/$1" OUT="$programs"
}
