#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the cases of some topics of the harness say holds.  Without a name these are all
# topics but for what is to be asked for, "alone" is the latter; a topic is what a file
# of cases calls VRB_TOPIC.
# usage: topics.sh [alone|TOPIC...]
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

topics=("$@") rounds=()

vrb_up
case $* in
'') rounds=(-n 5) ;;	# for kernels where a process is slow to start
alone) mapfile -t topics < <(vrb_alone) ;;
esac
ktap_plan "$(vrb_count -T "${topics[@]}")"
vrb_cases "${rounds[@]}" -T "${topics[@]}"
ktap_end
