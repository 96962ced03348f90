# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the verbs harness; source this after netns.sh
#
#   vrb_make                 builds the harness unless it exists
#   vrb_up                   vrb_make and two hosts; skips the script without a harness
#   vrb_count ARGUMENT...    prints how many cases these arguments select
#   vrb_alone                prints the topics with cases that topics.sh runs only by name
#   vrb_cases ARGUMENT...    runs cases, each as one check
#   vrb ARGUMENT...          runs the harness; no checks
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
	vrb_make
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
