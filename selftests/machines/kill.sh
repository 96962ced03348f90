#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A process is killed or a link deleted on one machine: the peer on the other gets RETRY_EXC,
# no object remains on either, and both continue to work.
#
#   A: nsA [sr0] veth0 ======== veth1 [sr1] nsB: B

. "$(dirname "$0")/../lib/netns.sh"

need rdma ib_write_bw ib_read_bw ib_send_bw

QP_TIMEOUT=18	# 1 s, which expires several times

# killed_on NS TOOL
killed_on()
{
	on "$1" pkill -9 "$2"
}

# link_deleted TOOL: it keeps its queue pair until it is killed
link_deleted()
{
	on nsB rdma link del sr1 && on nsB pkill -9 "$1"
}

# all_is_free TOOL: its remaining processes end, and no object remains
all_is_free()
{
	on nsB pkill -9 "$1"
	no_object_is_left
}

# linked_again: create a new link
linked_again()
{
	pair_up && program nsA nsB ib_write_bw -s 65536 -n 50
}

ktap_plan 17
check "two machines"			pair_up
check "WRITEs"				busy ib_write_bw
check "their responder is killed"	killed_on nsB ib_write_bw
check "RETRY_EXC"			gives_up ib_write_bw
check "nothing is left"			all_is_free ib_write_bw
check "READs"				busy ib_read_bw
check "their responder is killed"	killed_on nsB ib_read_bw
check "RETRY_EXC"			gives_up ib_read_bw
check "nothing is left"			all_is_free ib_read_bw
check "SENDs"				busy ib_send_bw
check "their requester is killed"	killed_on nsA ib_send_bw
check "nothing is left"			all_is_free ib_send_bw
check "both continue to work"		program nsA nsB ib_send_bw -s 65536 -n 50
check "WRITEs again"			busy ib_write_bw
check "the responder's link is deleted"	link_deleted ib_write_bw
check "RETRY_EXC"			gives_up ib_write_bw
check "a new link works"		linked_again
ktap_end
