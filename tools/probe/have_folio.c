// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Folios, 5.16 */
#include <linux/mm.h>

bool probe(void *addr);
bool probe(void *addr)
{
	return folio_mark_dirty(virt_to_folio(addr));
}
