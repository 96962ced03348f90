#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that corrupts its rings harms only itself.
#
#   nsA [sr0] veth0 ================ veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

vrb_up

ktap_plan $((2 * $(vrb_count hostile)))
vrb_cases hostile
vrb_cases -a sr0@nsA -b sr0@nsA hostile
ktap_end
