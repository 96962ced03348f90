#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Random verbs fail only as the man pages say, and leave no objects behind.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/hunt.sh"

programs=$(hunt_num 12 100000)

need rdma gcc make
hunt_make
hunt_seed
ktap_first "two hosts" pair_up
hunt_areas

ktap_plan 2
ktap_relay "${hunt_dir:?}/hunt-verbs" -s "$SEED" -n "$programs"
check "the rings are freed"	wait_freed areas_are_back
ktap_end
