# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the verbs harness as checks; source it after netns.sh
#
#   vrb_make                 builds the harness
#   vrb_count WORD...        how many cases these are
#   vrb_cases ARGUMENT...    runs them, each is one check
#   vrb ARGUMENT...          runs the harness and is silent
# shellcheck shell=bash
# shellcheck disable=SC2154 # netns.sh says where the selftests are

vrb_dir=

vrb_make()
{
	vrb_dir=$(mktemp -d)
	make -s -C "$selftests/verbs" OUT="$vrb_dir"
}

vrb_count()
{
	"$vrb_dir/vrb" -l "$@" | wc -l
}

vrb()
{
	"$vrb_dir/vrb" "$@"
}

# vrb_cases: our numbers in place of the harness's.  One that dies in the middle
# leaves a plan that was not kept.
vrb_cases()
{
	local line rest

	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			ktap_number=$((ktap_number + 1))
			rest=${line#*ok * }
			[[ $line == ok* ]] || ktap_failed=$((ktap_failed + 1))
			echo "${line%%ok*}ok $ktap_number $rest"
			;;
		"#"*) echo "$line" ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done < <("$vrb_dir/vrb" "$@" 2>&1 || echo "vrb returned $?")
}
