// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ib_get_curr_port_state(), and a core that reports changes, 6.14 */
#include <rdma/ib_verbs.h>

enum ib_port_state probe(struct net_device *ndev);
enum ib_port_state probe(struct net_device *ndev)
{
	return ib_get_curr_port_state(ndev);
}
