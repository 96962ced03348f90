#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cases of some topics of the harness pass.  The default is all topics except those
# that must be requested; "alone" selects the latter.  A file of cases names its topic by
# VRB_TOPIC.
# usage: topics.sh [alone|TOPIC...]
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

topics=("$@") rounds=()

vrb_up
case $* in
'') rounds=(-n 5) ;;	# for kernels on which starting a process takes long
alone) mapfile -t topics < <(vrb_alone) ;;
esac
ktap_plan "$(vrb_count -T "${topics[@]}")"
vrb_cases "${rounds[@]}" -T "${topics[@]}"
ktap_end
