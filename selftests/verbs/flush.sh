#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ATOMIC WRITE and FLUSH are executed once, also on a wire that loses packets.
#
#   nsA [sr0] veth0 ====(3 % lost, both ways)==== veth1 [sr1] nsB

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/vrb.sh"

need tc
vrb_up

lossy=("atomic write: many, with writes between"
	"atomic write: visible after earlier writes"
	"memory flush: many, with writes between")

lose()
{
	netem nsA veth0 loss 3% && netem nsB veth1 loss 3%
}

ktap_plan $((1 + $(vrb_count "atomic write" "memory flush") + $(vrb_count "${lossy[@]}")))
vrb_cases "atomic write" "memory flush"
check "the wire loses packets" lose
vrb_cases "${lossy[@]}"
ktap_end
