// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rdma_get_udp_sport(), 5.18 */
#include <rdma/ib_verbs.h>

u16 probe(void);
u16 probe(void)
{
	return rdma_get_udp_sport(0, 1, 2);
}
