// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct_group_tagged(), 5.16 and 5.15.54 */
#include <linux/stddef.h>
#include <linux/types.h>

unsigned long probe(void);
unsigned long probe(void)
{
	struct probe {
		struct_group_tagged(group, all, u32 one; u32 two;);
	};

	return sizeof(struct group);
}
