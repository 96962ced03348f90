# SPDX-License-Identifier: GPL-2.0
# srnic selftests - count objects where kernel consumers take completion queues from the core's
# pool, which keeps them as long as the device exists; source it after netns.sh
# shellcheck shell=bash

objects()
{
	rdma res show | sed -nE 's/^[0-9]+: (sr[0-9]+: .*) cq [0-9]+/\1/p' | sort
}
