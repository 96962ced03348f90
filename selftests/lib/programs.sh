# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the programs of a folder; source this after ktap.sh
#
#   programs_make FOLDER [NAME]  sets $programs_dir to the folder of the programs, which
#                            "make install" or selftests/run has built as build/NAME.
#                            If neither has, it builds them: the script is skipped
#                            without a compiler and headers, and fails if they do not
#                            compile.
# shellcheck shell=bash

programs_home=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
programs_dir=

programs_make()
{
	local name=${2:-$1}

	programs_dir=$programs_home/build/$name
	[ ! -d "$programs_dir" ] || return 0
	# programs cross-compiled by the lab have the processor in that name
	for programs_dir in "$programs_home/../build/$name"{-"$(uname -m)",}; do
		make -sq -C "$programs_home/$1" OUT="$programs_dir" && return
	done
	need gcc make
	gcc -E -include infiniband/verbs.h -x c /dev/null >/dev/null 2>&1 ||
		skip_all "the headers of libibverbs are not installed"
	programs_dir=$(mktemp -d)
	ktap_first "selftests/$1 compiles" make -s -C "$programs_home/$1" OUT="$programs_dir"
}
