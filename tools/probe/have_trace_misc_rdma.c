// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* <trace/misc/rdma.h>, which was <trace/events/rdma.h> before, 6.5 */
#include <linux/tracepoint.h>
#include <trace/misc/rdma.h>
