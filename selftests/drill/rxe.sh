#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The drills hold for another implementation, except for known differences.

. "$(dirname "$0")/../lib/ktap.sh"

modprobe -q rdma_rxe || skip_all "this kernel has no rdma_rxe"
TYPE=rxe exec "$(dirname "$0")/drill.sh" "$@"
