// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* get_random_u32_inclusive(), 6.2 */
#include <linux/random.h>

u32 probe(void);
u32 probe(void)
{
	return get_random_u32_inclusive(1, 6);
}
