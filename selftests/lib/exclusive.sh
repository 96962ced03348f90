# SPDX-License-Identifier: GPL-2.0
# srnic selftests - RDMA devices that belong to one namespace each; source it after netns.sh
#
#   exclusive       fails if there are namespaces already
#   mode_back       as it was before, after pair_down
#
# The kernel refuses both as long as other namespaces exist, and deletes them some time later.
# shellcheck shell=bash

mode_before=$(rdma system show | grep -o 'netns [a-z]*')

exclusive()
{
	[ -z "$(ip netns list)" ] && wait_for rdma system set netns exclusive
}

mode_back()
{
	# shellcheck disable=SC2086 # two words
	wait_for rdma system set $mode_before
}
