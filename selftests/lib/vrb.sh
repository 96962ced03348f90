# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the verbs harness as checks; source it after netns.sh
#
#   vrb_make                 the harness is there, or is built
#   vrb_up                   the harness and two hosts, or the script is skipped
#   vrb_count WORD...        how many cases these are
#   vrb_alone                prints the topics of which some is not run without their name
#   vrb_cases ARGUMENT...    runs them, each is one check
#   vrb ARGUMENT...          runs the harness and is silent
# shellcheck shell=bash
# shellcheck disable=SC2154 # programs.sh says where they are

. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"

vrb_dir=

vrb_make()
{
	programs_make verbs vrb && vrb_dir=$programs
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
