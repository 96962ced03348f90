#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Communication libraries run on a link of type srnic_rxe with rdma-core's rxe provider alone,
# as stacks.sh runs them on other links.
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB

. "$(dirname "$0")/../lib/stock.sh"

TYPE=$TYPE exec "$(dirname "$0")/stacks.sh"
