/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/mm.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_MM_H
#define SRNIC_COMPAT_MM_H

#include_next <linux/mm.h>

#ifndef SRNIC_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#ifndef SRNIC_HAVE_GUP_WITHOUT_VMAS
#define get_user_pages_remote(mm, start, num, flags, pages, locked) \
	get_user_pages_remote(mm, start, num, flags, pages, NULL, locked)
#endif

#ifndef SRNIC_HAVE_FOLIO
#define virt_to_folio(addr)		virt_to_head_page(addr)
#define folio_mark_dirty(page)		set_page_dirty(page)
#endif

#endif /* SRNIC_COMPAT_MM_H */
