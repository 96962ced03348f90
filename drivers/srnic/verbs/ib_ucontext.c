// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - user contexts, and the rings and device memory that user space maps
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../exec/worker.h"
#include "verbs.h"

static int ucontext_udata(struct srnic_ucontext *uc, struct ib_udata *udata)
{
	const struct srnic_alloc_ucontext_resp resp = {
		.max_inline = SRNIC_MAX_INLINE,
	};
	struct srnic_alloc_ucontext cmd = {};
	int err;

	err = udata->inlen ? srnic_udata_copy(&cmd, udata, sizeof(cmd)) : 0;
	if (err)
		return err;
	if (cmd.rsvd)
		return -EOPNOTSUPP;
	uc->poll_usecs = cmd.poll_usecs;

	return ib_respond_udata(udata, resp);
}

int srnic_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibuc->device);
	struct srnic_ucontext *uc = to_uc(ibuc);
	int err;

	err = dev->abi == SRNIC_ABI_OWN ? ucontext_udata(uc, udata) : ib_no_udata_io(udata);
	if (err)
		return err;

	uc->worker = srnic_worker_alloc();
	if (!uc->worker)
		return -ENOMEM;

	uc->user = srnic_user_get(dev);
	if (!uc->user) {
		srnic_worker_close(uc->worker);
		return -ENOMEM;
	}

	return 0;
}

/* The core has destroyed the queue pairs, so nothing is left to the worker. */
void srnic_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	struct srnic_ucontext *uc = to_uc(ibuc);

	srnic_worker_close(uc->worker);
	srnic_user_put(uc->user);
}

/* Required for importing a device file by fd; there is nothing to report. */
int srnic_query_ucontext(struct ib_ucontext *ibuc,
			 struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/*
 * Rings are ordinary memory that existing mappings keep, so there is nothing to
 * revoke when the device is removed.
 */
void srnic_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

static struct srnic_mmap *to_mmap(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct srnic_mmap, entry);
}

/*
 * Inserts page by page: remap_vmalloc_range() only accepts memory from
 * vmalloc_user(), which is not charged to a memory cgroup.
 */
static int mmap_insert(struct vm_area_struct *vma, const void *start)
{
	unsigned long addr;
	int err = 0;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (addr = vma->vm_start; addr < vma->vm_end && !err;
	     addr += PAGE_SIZE, start += PAGE_SIZE)
		err = vm_insert_page(vma, addr, vmalloc_to_page(start));

	return err;
}

int srnic_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	if (!(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;

	entry = rdma_user_mmap_entry_get(ibuc, vma);
	if (!entry)
		return -EINVAL;

	err = mmap_insert(vma, to_mmap(entry)->start);
	rdma_user_mmap_entry_put(entry);

	return err;
}

void srnic_mmap_free(struct rdma_user_mmap_entry *entry)
{
	complete(&to_mmap(entry)->unused);
}

struct srnic_mmap *srnic_mmap_expose(struct ib_ucontext *ibuc, void *start,
				     size_t size, struct srnic_map *out)
{
	struct srnic_mmap *map;
	int err;

	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return ERR_PTR(-ENOMEM);

	map->start = start;
	init_completion(&map->unused);

	err = rdma_user_mmap_entry_insert(ibuc, &map->entry, size);
	if (err) {
		kfree(map);
		return ERR_PTR(err);
	}

	*out = (struct srnic_map) {
		.offset		= rdma_user_mmap_get_offset(&map->entry),
		.length		= size,
	};

	return map;
}

struct srnic_mmap *srnic_ring_expose(const struct srnic_ring *ring,
				     struct ib_udata *udata,
				     struct srnic_map *out)
{
	struct srnic_ucontext *uc =
		rdma_udata_to_drv_context(udata, struct srnic_ucontext, ibuc);
	struct srnic_mmap *map;

	map = srnic_mmap_expose(&uc->ibuc, ring->hdr, ring->size, out);
	if (IS_ERR(map))
		return map;

	out->entries = ring->mask + 1;
	out->stride = ring->stride;

	return map;
}

void srnic_mmap_hide(struct srnic_mmap *map)
{
	if (!map)
		return;

	rdma_user_mmap_entry_remove(&map->entry);
	wait_for_completion(&map->unused);	/* mmap() calls in progress */
	kfree(map);
}
