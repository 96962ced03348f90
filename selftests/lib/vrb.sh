# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the verbs harness as checks; source it after netns.sh
#
#   vrb_make                 builds the harness, unless selftests/run or "make
#                            install" has done it
#   vrb_up                   the harness and two hosts, or the script is skipped
#   vrb_count WORD...        how many cases these are
#   vrb_alone                prints the topics of which some is not run without their name
#   vrb_cases ARGUMENT...    runs them, each is one check
#   vrb ARGUMENT...          runs the harness and is silent
# shellcheck shell=bash
# shellcheck disable=SC2154 # netns.sh says where the selftests are

vrb_dir=

vrb_make()
{
	vrb_dir=$selftests/build/vrb
	[ ! -d "$vrb_dir" ] || return 0
	# the lab's for another processor than the host's has that in its name
	for vrb_dir in "$selftests"/../build/vrb{-"$(uname -m)",}; do
		make -sq -C "$selftests/verbs" OUT="$vrb_dir" && return
	done
	vrb_dir=$(mktemp -d)
	make -s -C "$selftests/verbs" OUT="$vrb_dir"
}

vrb_up()
{
	need rdma gcc make
	vrb_make || skip_all "the harness does not build here"
	pair_up || exit
}

vrb_count()
{
	"$vrb_dir/vrb" -l "$@" | wc -l
}

vrb_alone()
{
	"$vrb_dir/vrb" -L | sed -n 's/ alone$//p'
}

vrb()
{
	"$vrb_dir/vrb" "$@"
}

vrb_cases()
{
	ktap_relay "$vrb_dir/vrb" "$@"
}
