// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - on-demand paging: an address space and its present pages
 *
 * Translations are kept in chunks, created when an address is first used.  The data path
 * accesses a page under its chunk's lock and never waits for one.  Whatever takes pages
 * away from the process (unmap, fork, reclaim, migration) calls the chunk's notifier, which
 * takes the same lock: once it returns, the pages are not in use until they are fetched
 * again.  So no page is pinned, and the data path always uses the page that the process has
 * mapped.
 *
 * struct ib_umem_odp is not used: a mutex protects its pages, which a data path in softirqs
 * cannot take, and its list of all pages of a region is allocated at registration and
 * charged to nobody.
 */
#include <linux/hmm.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/oom.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "copy.h"
#include "internal.h"

#define ODP_ORDER	9
#define ODP_PAGES	BIT(ODP_ORDER)
#define ODP_SHIFT	(ODP_ORDER + PAGE_SHIFT)

/* Maximum number of pages fetched at once */
#define ODP_BATCH	64

/* How long, in jiffies, to retry while pages are invalidated as fast as fetched */
#define ODP_PATIENCE	HZ

/* Low bits of a translation; the others are the page's kernel address */
#define ODP_VALID	BIT(0)
#define ODP_WRITE	BIT(1)
#define ODP_DIRTY	BIT(ODP_DIRTY_BIT)
#define ODP_DIRTY_BIT	2

/**
 * struct srnic_odp - address space that backs an on-demand region
 * @ref: one reference for the region, one for each fetch
 * @id: unique number, never reused
 * @mm: the process's mm; held by mmgrab(), which does not keep its memory
 * @owner: owner that fetches are charged to; reference held
 * @chunks: struct odp_chunk by address >> ODP_SHIFT; readers use RCU
 * @empty: chunks that had no pages after an unmap or a failed fetch
 * @reap: frees the chunks in @empty that still have no pages
 */
struct srnic_odp {
	struct kref		ref;
	u64			id;
	struct mm_struct	*mm;
	struct srnic_owner	*owner;
	struct xarray		chunks;
	struct llist_head	empty;
	struct work_struct	reap;
};

/**
 * struct odp_chunk - translations of ODP_PAGES pages
 * @notifier: invalidates pages that are taken away from the process
 * @odp: address space of the chunk
 * @index: index in @odp->chunks
 * @users: one reference held by @odp->chunks, one by each fetch
 * @mutex: serialises changes of @page; taken in reclaim
 * @placed: it has been inserted into @odp->chunks; under @mutex
 * @dead: it has been erased from @odp->chunks; under @mutex
 * @node: entry in @odp->empty
 * @listed: it is in @odp->empty, or will be once placed; under @mutex
 * @lock: protects @page; the data path is the reader
 * @rcu: defers the free for RCU readers
 * @page: translations, 0: absent.  The data path may set ODP_DIRTY
 */
struct odp_chunk {
	struct mmu_interval_notifier	notifier;
	struct srnic_odp		*odp;
	unsigned long			index;
	refcount_t			users;
	struct mutex			mutex;	/* protects changes of page */
	bool				placed;
	bool				dead;
	struct llist_node		node;
	bool				listed;
	rwlock_t			lock;	/* protects page */
	struct rcu_head			rcu;
	unsigned long			page[ODP_PAGES];
};

static struct workqueue_struct *reap_wq;	/* frees chunks */
static atomic64_t odp_id;

static u32 odp_slot(u64 va)
{
	return (va >> PAGE_SHIFT) & (ODP_PAGES - 1);
}

/* ---- access ---- */

typedef void (*odp_use_fn)(void *mem, void *arg, u32 len);

/* Calls @use for the bytes at @va, all within one page; false: the page is absent. */
static __always_inline bool odp_use(struct srnic_odp *odp, u64 va, u32 len,
				    unsigned long need, odp_use_fn use,
				    void *arg)
{
	struct odp_chunk *chunk;
	unsigned long page = 0;
	u32 slot = odp_slot(va);

	rcu_read_lock();
	chunk = xa_load(&odp->chunks, va >> ODP_SHIFT);
	if (chunk) {
		read_lock_bh(&chunk->lock);
		page = READ_ONCE(chunk->page[slot]);	/* other readers set ODP_DIRTY */
		if ((page & need) == need) {
			if (need & ODP_WRITE && !(page & ODP_DIRTY))
				set_bit(ODP_DIRTY_BIT, &chunk->page[slot]);
			use((void *)(page & PAGE_MASK) + offset_in_page(va), arg, len);
		}
		read_unlock_bh(&chunk->lock);
	}
	rcu_read_unlock();

	return (page & need) == need;
}

static void use_write(void *mem, void *src, u32 len)
{
	srnic_copy_in(mem, src, len);
}

static void use_read(void *mem, void *dst, u32 len)
{
	memcpy(dst, mem, len);
}

u64 srnic_odp_write(struct srnic_odp *odp, u64 va, const void *src, u64 len)
{
	u64 done = 0;

	while (done < len) {
		u32 n = min_t(u64, len - done, PAGE_SIZE - offset_in_page(va + done));

		if (!odp_use(odp, va + done, n, ODP_VALID | ODP_WRITE,
			     use_write, (void *)src + done))
			break;
		done += n;
	}

	return done;
}

u64 srnic_odp_read(struct srnic_odp *odp, u64 va, void *dst, u64 len)
{
	u64 done = 0;

	while (done < len) {
		u32 n = min_t(u64, len - done, PAGE_SIZE - offset_in_page(va + done));

		if (!odp_use(odp, va + done, n, ODP_VALID, use_read, dst + done))
			break;
		done += n;
	}

	return done;
}

/**
 * struct odp_word - arguments of use_word()
 * @fn: operation on the word
 * @arg: argument of @fn
 * @result: where the return value of @fn is stored
 */
struct odp_word {
	srnic_word_fn	fn;
	const void	*arg;
	u64		*result;
};

static void use_word(void *mem, void *arg, u32 len)
{
	const struct odp_word *word = arg;

	*word->result = word->fn(mem, word->arg);
}

bool srnic_odp_word(struct srnic_odp *odp, u64 va, srnic_word_fn fn,
		    const void *arg, u64 *result)
{
	struct odp_word word = { .fn = fn, .arg = arg, .result = result };

	return odp_use(odp, va, sizeof(u64), ODP_VALID | ODP_WRITE, use_word, &word);
}

/* ---- chunks ---- */

/*
 * Invalidates pages [first, end); none is in use when this returns.  Written pages are
 * marked dirty here, as that takes locks which the data path must not take.
 */
static void chunk_forget(struct odp_chunk *chunk, u32 first, u32 end)
	__must_hold(&chunk->mutex)
{
	unsigned long page;
	u32 i;

	lockdep_assert_held(&chunk->mutex);

	write_lock_bh(&chunk->lock);
	for (i = first; i < end; i++)
		chunk->page[i] &= ~(ODP_VALID | ODP_WRITE);
	write_unlock_bh(&chunk->lock);

	for (i = first; i < end; i++) {
		page = chunk->page[i];
		if (page & ODP_DIRTY)
			folio_mark_dirty(virt_to_folio((void *)(page & PAGE_MASK)));
		WRITE_ONCE(chunk->page[i], 0);
	}
}

static bool chunk_is_empty(const struct odp_chunk *chunk)
{
	return !memchr_inv(chunk->page, 0, sizeof(chunk->page));
}

static void chunk_enlist(struct odp_chunk *chunk)
{
	llist_add(&chunk->node, &chunk->odp->empty);
	queue_work(reap_wq, &chunk->odp->reap);
}

/* Queues @chunk to be freed if it has no pages. */
static void chunk_list(struct odp_chunk *chunk)
	__must_hold(&chunk->mutex)
{
	lockdep_assert_held(&chunk->mutex);

	if (chunk->listed || chunk->dead || !chunk_is_empty(chunk))
		return;

	chunk->listed = true;
	if (chunk->placed)
		chunk_enlist(chunk);
}

static bool chunk_invalidate(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range,
			     unsigned long seq)
{
	struct odp_chunk *chunk = container_of(notifier, struct odp_chunk, notifier);
	u64 base = (u64)chunk->index << ODP_SHIFT;
	u64 first = max_t(u64, range->start, base);
	u64 end = min_t(u64, range->end, base + BIT_ULL(ODP_SHIFT));

	if (mmu_notifier_range_blockable(range))
		mutex_lock(&chunk->mutex);
	else if (!mutex_trylock(&chunk->mutex))
		return false;

	mmu_interval_set_seq(notifier, seq);
	chunk_forget(chunk, (first - base) >> PAGE_SHIFT,
		     DIV_ROUND_UP(end - base, PAGE_SIZE));
	if (range->event == MMU_NOTIFY_UNMAP)
		chunk_list(chunk);
	mutex_unlock(&chunk->mutex);

	return true;
}

static const struct mmu_interval_notifier_ops chunk_ops = {
	.invalidate = chunk_invalidate,
};

static void chunk_put(struct odp_chunk *chunk)
{
	if (refcount_dec_and_test(&chunk->users))
		kfree_rcu(chunk, rcu);
}

/* Takes @chunk out of use; fetches into it that are in progress have no effect. */
static void chunk_kill(struct odp_chunk *chunk)
{
	xa_erase(&chunk->odp->chunks, chunk->index);
	mutex_lock(&chunk->mutex);
	chunk->dead = true;
	chunk_forget(chunk, 0, ODP_PAGES);
	mutex_unlock(&chunk->mutex);
	mmu_interval_notifier_remove(&chunk->notifier);
	chunk_put(chunk);
}

/* Is @chunk still empty?  If not, pages were fetched, and it may be listed again later. */
static bool chunk_is_left(struct odp_chunk *chunk)
{
	bool empty;

	mutex_lock(&chunk->mutex);
	empty = chunk_is_empty(chunk);
	chunk->listed = empty;
	mutex_unlock(&chunk->mutex);

	return empty;
}

static void odp_reap(struct work_struct *work)
{
	struct srnic_odp *odp = container_of(work, struct srnic_odp, reap);
	struct odp_chunk *chunk, *next;

	llist_for_each_entry_safe(chunk, next, llist_del_all(&odp->empty), node)
		if (chunk_is_left(chunk))
			chunk_kill(chunk);
}

/*
 * End of the hole that contains @va, or @va if none does.  A hole is a range that is not
 * mapped, or mapped without access rights.
 */
static u64 odp_hole_end(struct mm_struct *mm, u64 va)
{
	struct vm_area_struct *vma;
	u64 end = va;

	mmap_read_lock(mm);
	vma = find_vma(mm, va);
	if (!vma)
		end = U64_MAX;
	else if (va < vma->vm_start)
		end = vma->vm_start;
	else if (!(vma->vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
		end = vma->vm_end;
	mmap_read_unlock(mm);

	return end;
}

/*
 * Inserts @chunk, whose memory may have been unmapped since the notifier was registered.
 * On failure it is not in @odp->empty, so the caller may free it.
 */
static int chunk_place(struct odp_chunk *chunk)
{
	int err = xa_insert(&chunk->odp->chunks, chunk->index, chunk,
			    GFP_KERNEL_ACCOUNT);

	if (err)
		return err;

	mutex_lock(&chunk->mutex);
	chunk->placed = true;
	if (chunk->listed)
		chunk_enlist(chunk);
	mutex_unlock(&chunk->mutex);

	return 0;
}

/* The caller holds a reference on the mm's memory.  ERR_PTR(-EBUSY): the chunk exists. */
static struct odp_chunk *chunk_make(struct srnic_odp *odp, u64 va)
{
	struct odp_chunk *chunk;
	int err;

	/* Peers may name any address; do not allocate chunks for holes. */
	if (odp_hole_end(odp->mm, va) != va)
		return ERR_PTR(-EFAULT);

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);

	chunk->odp = odp;
	chunk->index = va >> ODP_SHIFT;
	refcount_set(&chunk->users, 2);
	mutex_init(&chunk->mutex);
	rwlock_init(&chunk->lock);
	err = mmu_interval_notifier_insert(&chunk->notifier, odp->mm,
					   chunk->index << ODP_SHIFT,
					   BIT(ODP_SHIFT), &chunk_ops);
	if (err)
		goto err_free;
	err = chunk_place(chunk);
	if (err)
		goto err_notifier;

	return chunk;

err_notifier:
	mmu_interval_notifier_remove(&chunk->notifier);
err_free:
	kfree(chunk);
	return ERR_PTR(err);
}

static struct odp_chunk *chunk_find(struct srnic_odp *odp, u64 va)
{
	struct odp_chunk *chunk;

	rcu_read_lock();
	chunk = xa_load(&odp->chunks, va >> ODP_SHIFT);
	if (chunk && !refcount_inc_not_zero(&chunk->users))
		chunk = NULL;
	rcu_read_unlock();

	return chunk;
}

static struct odp_chunk *chunk_get(struct srnic_odp *odp, u64 va)
{
	struct odp_chunk *chunk;

	do {
		chunk = chunk_find(odp, va) ?: chunk_make(odp, va);
	} while (chunk == ERR_PTR(-EBUSY));

	return chunk;
}

/* ---- fetching ---- */

/* Makes @pages visible from @slot on; false if they may be invalid since @seq. */
static bool chunk_show(struct odp_chunk *chunk, u32 slot, struct page **pages,
		       long num, bool write, unsigned long seq)
{
	unsigned long flags = ODP_VALID | (write ? ODP_WRITE : 0);
	unsigned long old;
	bool stale;
	long i;

	mutex_lock(&chunk->mutex);
	stale = mmu_interval_read_retry(&chunk->notifier, seq);
	if (!stale && !chunk->dead) {
		write_lock_bh(&chunk->lock);
		for (i = 0; i < num; i++) {
			old = chunk->page[slot + i] & (ODP_WRITE | ODP_DIRTY);
			chunk->page[slot + i] = old | flags |
				(unsigned long)page_address(pages[i]);
		}
		write_unlock_bh(&chunk->lock);
	}
	mutex_unlock(&chunk->mutex);

	return !stale;
}

/*
 * Gets references on the pages at @va, faulting them in unless FOLL_NOFAULT is set.
 * hmm_range_fault() is not used because it holds mmap_lock during a fault: the process
 * could not map memory while a page comes from a slow file system, and userfaultfd, for
 * which the lock must be dropped, would fail.  Only the newest kernels have a variant that
 * drops it.
 */
static long odp_pages(struct mm_struct *mm, u64 va, long num,
		      unsigned int flags, struct page **pages)
{
	int locked = 1;
	long got;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	if (check_stable_address_space(mm))
		got = -ESRCH;	/* the OOM reaper took the process's memory */
	else
		got = get_user_pages_remote(mm, va, num, flags, pages, &locked);
	if (locked)
		mmap_read_unlock(mm);

	return got ?: -EFAULT;
}

static const unsigned int odp_fetch_flags[] = {
	[SRNIC_FETCH_READ]	= 0,
	[SRNIC_FETCH_WRITE]	= FOLL_WRITE,
	[SRNIC_FETCH_PRESENT]	= FOLL_NOFAULT,
};

static long chunk_fetch(struct odp_chunk *chunk, u64 va, u64 num,
			enum srnic_fetch_how how)
{
	unsigned long end = jiffies + ODP_PATIENCE;
	struct page *pages[ODP_BATCH];
	u32 slot = odp_slot(va);
	unsigned long seq;
	bool shown;
	long got;

	num = min3(num, (u64)ODP_BATCH, (u64)ODP_PAGES - slot);
	do {
		seq = mmu_interval_read_begin(&chunk->notifier);
		got = odp_pages(chunk->odp->mm, va & PAGE_MASK, num,
				odp_fetch_flags[how], pages);
		if (got < 0)
			return got;
		shown = chunk_show(chunk, slot, pages, got,
				   how == SRNIC_FETCH_WRITE, seq);
		release_pages(pages, got);
		if (shown)
			return got;
		cond_resched();
	} while (time_before(jiffies, end));

	return -EBUSY;
}

/* A chunk into which no page could be fetched is freed, as after an unmap. */
static void chunk_failed(struct odp_chunk *chunk)
{
	mutex_lock(&chunk->mutex);
	chunk_list(chunk);
	mutex_unlock(&chunk->mutex);
}

static long odp_fetch(struct srnic_odp *odp, u64 va, u64 num,
		      enum srnic_fetch_how how)
{
	struct odp_chunk *chunk = chunk_get(odp, va);
	long got;

	if (IS_ERR(chunk))
		return PTR_ERR(chunk);

	got = chunk_fetch(chunk, va, num, how);
	if (got < 0)
		chunk_failed(chunk);
	chunk_put(chunk);

	return got;
}

/*
 * Number of absent pages from @va on, including the one at @va, according to one walk of
 * the page tables, which covers ODP_BATCH pages at most.  get_user_pages_remote() ends at
 * the first absent page, so it would take a call for each.
 */
static u64 chunk_absent(struct odp_chunk *chunk, u64 va)
{
	u32 max = min_t(u32, ODP_BATCH, ODP_PAGES - odp_slot(va));
	unsigned long pfns[ODP_BATCH] = {};
	struct hmm_range range = {
		.notifier	= &chunk->notifier,
		.notifier_seq	= mmu_interval_read_begin(&chunk->notifier),
		.start		= va,
		.end		= va + ((u64)max << PAGE_SHIFT),
		.hmm_pfns	= pfns,
	};
	u32 n = 1;
	int err;

	mmap_read_lock(chunk->odp->mm);
	err = hmm_range_fault(&range);	/* no flags set: faults nothing in */
	mmap_read_unlock(chunk->odp->mm);
	while (!err && n < max && !(pfns[n] & HMM_PFN_VALID))
		n++;

	return n;
}

/* Number of absent pages from @va on, which may be in a hole or in no chunk; at least 1 */
static u64 odp_absent(struct srnic_odp *odp, u64 va)
{
	u64 end = odp_hole_end(odp->mm, va);
	struct odp_chunk *chunk;
	u64 n;

	if (end != va)
		return max_t(u64, (end - va) >> PAGE_SHIFT, 1);

	chunk = chunk_find(odp, va);
	if (!chunk)
		return 1;
	n = chunk_absent(chunk, va);
	chunk_put(chunk);

	return n;
}

/* Charges memory that is allocated meanwhile to the memory cgroup of the process. */
long srnic_odp_fetch(struct srnic_odp *odp, u64 va, u64 num,
		     enum srnic_fetch_how how)
{
	struct mem_cgroup *memcg, *old;
	long got;

	if (!mmget_not_zero(odp->mm))
		return -ESRCH;	/* the process has exited */

	memcg = get_mem_cgroup_from_mm(odp->mm);
	old = set_active_memcg(memcg);
	got = odp_fetch(odp, va, num, how);
	if (got == -EFAULT && how == SRNIC_FETCH_PRESENT)
		got = min(num, odp_absent(odp, va));
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	mmput_async(odp->mm);

	return got;
}

/* ---- lifetime ---- */

struct srnic_odp *srnic_odp_make(struct srnic_owner *owner)
{
	struct srnic_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);

	if (!odp)
		return NULL;

	kref_init(&odp->ref);
	odp->id = atomic64_inc_return(&odp_id);
	odp->mm = current->mm;
	mmgrab(odp->mm);
	odp->owner = srnic_owner_get(owner);
	xa_init_flags(&odp->chunks, XA_FLAGS_ACCOUNT);
	init_llist_head(&odp->empty);
	INIT_WORK(&odp->reap, odp_reap);

	return odp;
}

u64 srnic_odp_id(const struct srnic_odp *odp)
{
	return odp->id;
}

void srnic_odp_get(struct srnic_odp *odp)
{
	kref_get(&odp->ref);
}

static void odp_free(struct kref *ref)
{
	struct srnic_odp *odp = container_of(ref, struct srnic_odp, ref);
	struct odp_chunk *chunk;
	unsigned long index;

	disable_work_sync(&odp->reap);
	xa_for_each(&odp->chunks, index, chunk)
		chunk_kill(chunk);
	xa_destroy(&odp->chunks);
	mmdrop(odp->mm);
	srnic_owner_put(odp->owner);
	kfree(odp);
}

void srnic_odp_put(struct srnic_odp *odp)
{
	if (odp)
		kref_put(&odp->ref, odp_free);
}

struct srnic_owner *srnic_odp_owner(const struct srnic_odp *odp)
{
	return odp->owner;
}

int srnic_mem_init(void)
{
	int err = srnic_owners_init();

	if (err)
		return err;

	err = srnic_jobs_init();
	if (err)
		goto err_owners;

	reap_wq = alloc_workqueue("srnic-reap", WQ_UNBOUND, 0);
	if (!reap_wq) {
		err = -ENOMEM;
		goto err_jobs;
	}

	return 0;

err_jobs:
	srnic_jobs_exit();
err_owners:
	srnic_owners_exit();
	return err;
}

void srnic_mem_exit(void)
{
	srnic_jobs_exit();	/* waits for the last fetches to end */
	srnic_owners_exit();
	destroy_workqueue(reap_wq);
	rcu_barrier();	/* kfree_rcu() of chunks */
}
