// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* FLUSH and ATOMIC WRITE among what can be done on demand, 6.16 */
#include <rdma/ib_verbs.h>

enum ib_odp_transport_cap_bits probe(void);
enum ib_odp_transport_cap_bits probe(void)
{
	return IB_ODP_SUPPORT_FLUSH;
}
