#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets are corrupted, and no corrupted byte reaches memory.
#
#   nsA [sr0] veth0 ===(corruption 1 % both ways)=== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"
. "$(dirname "$0")/../lib/soak.sh"

soak "corruption 1 %" "corrupt 1%" "sr1 refused packets" \
	counter_over nsB sr1 rx_icrc_error 0
