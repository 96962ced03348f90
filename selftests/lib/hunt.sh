# SPDX-License-Identifier: GPL-2.0
# srnic selftests - random worst cases that can be repeated; source it after
# ktap.sh or netns.sh
#
#   hunt_num SHORT LONG      prints SHORT in "make check", LONG in "make soak" (HUNT=long), and
#                            LONG / N, but not less than SHORT, in a part of it (HUNT=long/N);
#                            a LONG below SHORT is an interval, which stays as it is
#   hunt_seed                sets and reports SEED: HUNT_SEED, or a new one
#   hunt_make                sets $hunt_dir to the programs of selftests/hunt, builds them
#                            unless they exist
#   hunt_storm ARGUMENT...   a process that corrupts its rings; the cases of the array
#                            neighbour run as long as it does, and pass
#   hunt_areas               remembers the memory of all rings
#   areas_are_back           rings have as much memory as then
#
# A failure is repeated by "HUNT_SEED=<seed> selftests/run <script>".
# shellcheck shell=bash
# shellcheck disable=SC2154 # programs.sh says where they are

. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"

hunt_num()
{
	local short=$1 long=$2 part

	case ${HUNT:-} in
	long/*)
		part=$((long / ${HUNT#long/}))
		if ((long > short)); then
			long=$((part > short ? part : short))
		fi
		echo "$long"
		;;
	long) echo "$long" ;;
	*) echo "$short" ;;
	esac
}

hunt_seed()
{
	SEED=${HUNT_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	diag "to repeat: HUNT_SEED=$SEED ${HUNT:+HUNT=$HUNT }selftests/run ${0##*/}"
}

hunt_dir=

hunt_make()
{
	programs_make hunt && hunt_dir=$programs_dir
}

hunt_storm()
{
	local hostile said status=0

	said=$(mktemp)
	"${hunt_dir:?}/hunt-rings" "$@" -s "$SEED" -n "$(hunt_num 300 20000)" \
		-r "$(hunt_num 1 16)" &
	hostile=$!
	while ((status == 0)) && kill -0 "$hostile" 2>/dev/null; do
		vrb -n 2 "$@" "${neighbour[@]}" >"$said" || status=$?
	done
	((status == 0)) || ktap_failures <"$said"
	rm -f "$said"
	wait "$hostile" && return "$status"
}

hunt_areas()
{
	areas_before=$(grep -c '\[srnic\]' /proc/vmallocinfo)
}

areas_are_back()
{
	local now

	now=$(grep -c '\[srnic\]' /proc/vmallocinfo)
	[ "$now" -eq "$areas_before" ] ||
		{ echo "$now areas, not $areas_before"; return 1; }
}
