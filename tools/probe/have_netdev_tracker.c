// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* netdevice_tracker, 5.17 */
#include <linux/netdevice.h>

unsigned long probe(void);
unsigned long probe(void)
{
	return sizeof(netdevice_tracker);
}
