# SPDX-License-Identifier: GPL-2.0
# srnic selftests - rdma-core without our provider; source it instead of netns.sh
#
#   The pair has the user ABI of rdma_rxe, which rdma-core's rxe provider supports.  The file
#   that names the srnic provider is hidden from the script and its children only.
# shellcheck shell=bash

OUR_DRIVER=/etc/libibverbs.d/srnic.driver

if [ -s "$OUR_DRIVER" ] && ((EUID == 0)); then
	exec unshare -m bash -c 'mount --bind /dev/null "$1" && shift && exec "$@"' \
		bash "$OUR_DRIVER" "$0" "$@"
fi

TYPE=srnic_rxe
. "$(dirname "${BASH_SOURCE[0]}")/netns.sh"
