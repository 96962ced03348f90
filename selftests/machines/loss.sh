#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One packet in a hundred is lost between two kernels, and every byte arrives.
#
#   A: nsA [sr0] veth0 ===(loss 1 % both ways)=== veth1 [sr1] nsB: B

. "$(dirname "$0")/../lib/netns.sh"
. "$(dirname "$0")/../lib/soak.sh"

need rdma ib_write_bw rping tc

ktap_plan 9
check "two machines"		pair_up
check "a wire that loses 1 %"	both_ways loss 1%
check "every byte of A's READs and WRITEs"	program nsB nsA rping -V -S 65000 -C 60
check "every byte of B's READs and WRITEs"	program nsA nsB rping -V -S 65000 -C 60
check "WRITEs"			program nsA nsB ib_write_bw -s 65536 -n 300
check "READs"			program nsA nsB ib_read_bw -s 65536 -n 300
check "SENDs"			program nsB nsA ib_send_bw -s 65536 -n 300
check "sr0 had to go back"	counter_over nsA sr0 go_back 0
check "sr1 had to go back"	counter_over nsB sr1 go_back 0
clear_wire
ktap_end
