// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* get_random_u8(), 6.1 */
#include <linux/random.h>

u8 probe(void);
u8 probe(void)
{
	return get_random_u8();
}
