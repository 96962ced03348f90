// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* <linux/unaligned.h>, which was <asm/unaligned.h> before, 6.12 */
#include <linux/unaligned.h>

u32 probe(const void *p);
u32 probe(const void *p)
{
	return get_unaligned_be32(p);
}
