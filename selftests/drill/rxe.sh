#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The drills hold for another implementation, but where a difference is known.

modprobe -q rdma_rxe || { echo "1..0 # SKIP this kernel has no rdma_rxe"; exit 4; }
TYPE=rxe exec "$(dirname "$0")/drill.sh" "$@"
