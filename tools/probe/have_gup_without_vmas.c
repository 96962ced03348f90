// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* get_user_pages_remote() that gives no VMAs, 6.5 */
#include <linux/mm.h>

long probe(struct mm_struct *mm, struct page **pages, int *locked);
long probe(struct mm_struct *mm, struct page **pages, int *locked)
{
	return get_user_pages_remote(mm, 0, 1, 0, pages, locked);
}
