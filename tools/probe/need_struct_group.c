// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct_group_tagged(), 5.16 and 5.15.54 */
#include <linux/stddef.h>
#include <linux/types.h>

struct probe {
	struct_group_tagged(group, all,
		u32 one;
		u32 two;
	);
};

u32 probe(const struct probe *p);
u32 probe(const struct probe *p)
{
	return p->one + p->all.two;
}
