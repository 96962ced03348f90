#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Communication libraries run on a link of type srnic_rxe with rdma-core's rxe provider alone,
# as stacks.sh runs them on other links.
#
#   nsA [sr0 srnic_rxe] veth0 ================ veth1 [sr1 srnic_rxe] nsB
#
# run: libfabric, UCX, Open MPI and MPICH, by rdma-core's provider for rdma_rxe
#   | libfabric-bin ucx-utils openmpi-bin mpich
#   | a link of type srnic_rxe; else as on other links
#   | ``rdma link add srnic0 type srnic_rxe netdev eth0``

. "$(dirname "$0")/../lib/stock.sh"

TYPE=$TYPE exec "$(dirname "$0")/stacks.sh"
