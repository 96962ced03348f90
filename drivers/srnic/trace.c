// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - definitions of the trace points
 */
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "mem/mem.h"
#include "queue/queue.h"
#include "wire/pkt.h"
#include "xport/xport.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
