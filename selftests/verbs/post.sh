#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Posting works with any credentials of the caller, and fails once the device has been
# removed.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan $(($(vrb_count post gone) + 1))
vrb_cases post
vrb_cases gone
check "the device is back"	on nsA rdma link add sr0 type srnic netdev veth0
ktap_end
