// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - lifetime of a key: what a lookup finds while the region is being
 * invalidated, and the notification after its last use
 *
 * Two concurrent tasks are represented by two consecutive lookups.
 */

#include <linux/kernel.h>
#include <stdlib.h>

#include "mem/internal.h"
#include "tap.h"

#define PAGE	4096
#define OWNER	7

static struct srnic_keys keys;
static const struct ib_pd *const pd = (const void *)&keys;
static unsigned int told;

static void wake(struct srnic_wait *wait)
{
	(void)wait;
	told++;
}

static struct srnic_wait wait = { .wake = wake };

/* Defined in mr.c, most of which this test does not need */
bool srnic_mr_covers(const struct srnic_mr *mr, u64 addr, u64 len)
{
	return addr >= mr->span.iova &&
	       addr + len <= mr->span.iova + mr->span.length;
}

static struct srnic_mr *look(u32 key)
{
	struct srnic_mr *mr = NULL;

	return srnic_mr_get_remote(&keys, key, pd, OWNER, 0, 0, 8, &mr) ? NULL :
									  mr;
}

/* Is the key found?  The reference is dropped again. */
static bool found(u32 key)
{
	struct srnic_mr *mr = look(key);

	if (mr)
		srnic_mr_put(mr);

	return mr;
}

static enum srnic_mem_err show_again(u32 key, u64 length)
{
	const struct srnic_fast fast = {
		.pd = pd, .key = key, .length = length,
	};

	return srnic_fast_register(&keys, &fast);
}

/* Each list has another block. */
static enum srnic_mem_err show(struct srnic_mr *mr, u32 key)
{
	static u64 block;

	block += PAGE;
	srnic_fast_begin(mr, PAGE);
	srnic_fast_add(mr, block);

	return show_again(key, PAGE);
}

/* rtrs-srv lists the blocks once, and registers them for each transfer. */
static void test_fast_again(struct srnic_mr *mr, u32 key)
{
	void *block = mr->span.block[0];

	tap_check(srnic_fast_is_free(&keys, key, pd) &&
		  !srnic_fast_is_free(&keys, key + 1, pd),
		  "a region is free under its last key only");
	tap_check(show_again(key, 2 * PAGE) == SRNIC_MEM_RANGE,
		  "without a new list a region cannot be larger than its last one");
	tap_check(!show_again(key, PAGE) && found(key) &&
		  mr->span.block[0] == block,
		  "without a new list a region refers to its last list");
	tap_check(!srnic_fast_is_free(&keys, key, pd),
		  "a region is not free while it is registered");
	srnic_mr_invalidate(&keys, key, pd, OWNER, &wait);
	tap_check(!show_again(key, PAGE) && mr->span.block[0] == block,
		  "a region that is registered once more refers to that list, too");
	srnic_fast_begin(mr, PAGE);
	srnic_mr_invalidate(&keys, key, pd, OWNER, &wait);
	tap_check(show_again(key, PAGE) == SRNIC_MEM_RANGE,
		  "a region with an empty list cannot be registered");
	tap_check(!show(mr, key) && found(key), "after a new list it can be registered again");
	srnic_mr_invalidate(&keys, key, pd, OWNER, &wait);
}

static void test_fast(void)
{
	struct srnic_mr mr = { .kind = SRNIC_MR_FAST, .pd = pd };
	struct srnic_mr *user;
	u32 key;

	told = 0;
	srnic_fast_alloc(&mr, 1);
	srnic_mr_publish(&keys, &mr);
	key = mr.key;
	tap_check(!found(key), "a fast region is not found before it is registered");
	tap_check(!show(&mr, key) && found(key), "it is found after that");

	user = look(key);
	tap_check(srnic_mr_invalidate(&keys, key, pd, OWNER, &wait) ==
		  SRNIC_MEM_BUSY, "it is invalidated while it has a user");
	tap_check(!found(key), "it is no longer found although it has a user");
	tap_check(srnic_mr_invalidate(&keys, key, pd, OWNER, &wait) !=
		  SRNIC_MEM_OK, "it cannot be invalidated twice");
	tap_check(show(&mr, key) == SRNIC_MEM_STATE,
		  "it cannot be registered while it has a user");
	tap_check(!told, "there is no notification before the last user is gone");
	srnic_mr_put(user);
	tap_check(told == 1, "the last user triggers the notification");

	tap_check(!show(&mr, key + 1) && found(key + 1) && !found(key),
		  "it is registered again with another tag");
	tap_check(srnic_mr_invalidate(&keys, key + 1, pd, OWNER, &wait) ==
		  SRNIC_MEM_OK && told == 1,
		  "invalidation without a user completes immediately");
	test_fast_again(&mr, key + 1);
	srnic_mr_hide(&keys, &mr);
	free(mr.span.block);
	free(mr.next.block);
}

static enum srnic_mem_err bind(u32 mw_key, u32 new_key, u32 mr_key)
{
	const struct srnic_bind what = {
		.pd = pd, .owner = OWNER, .mw_key = mw_key, .new_key = new_key,
		.mr_key = mr_key, .length = PAGE, .access = IB_ACCESS_REMOTE_READ,
	};

	return srnic_mw_bind(&keys, &what, &wait);
}

static void test_window(void)
{
	struct srnic_mr mr = {
		.pd = pd, .access = IB_ACCESS_MW_BIND, .span.length = PAGE,
	};
	struct srnic_mr mw = { .kind = SRNIC_MW_1, .pd = pd };
	struct srnic_mr *user;
	u32 key;

	told = 0;
	srnic_mr_publish(&keys, &mr);
	srnic_mr_publish(&keys, &mw);
	key = mw.key;
	tap_check(!bind(key, key + 1, mr.key) && found(key + 1),
		  "a window of type 1 is found when it is bound");

	user = look(key + 1);
	tap_check(bind(key + 1, key + 2, mr.key) == SRNIC_MEM_BUSY,
		  "it cannot be bound again while it has a user");
	tap_check(!found(key + 1), "it is no longer found");
	tap_check(!srnic_mr_seal(&mr), "its region cannot go before that user");
	srnic_mr_put(user);
	tap_check(told == 1 && !bind(key + 1, key + 2, mr.key) &&
		  found(key + 2) && !found(key + 1), "it is bound again after that");

	srnic_mr_hide(&keys, &mw);
	tap_check(!found(key + 2), "a deallocated window is not found");
	tap_check(srnic_mr_seal(&mr), "its region can be deregistered");
	srnic_mr_hide(&keys, &mr);
}

static struct srnic_mr plain[2];

static void replace(void)
{
	shim_at_load = NULL;
	srnic_mr_replace(&keys, &plain[0], &plain[1]);
}

/* The region is replaced between the table lookup and taking the reference. */
static void test_replace(void)
{
	struct srnic_mr *mr;
	int i;

	for (i = 0; i < 2; i++)
		plain[i] = (struct srnic_mr) { .pd = pd, .span.length = PAGE };
	srnic_mr_publish(&keys, &plain[0]);
	shim_at_load = replace;
	mr = look(plain[0].key);
	tap_check(mr == &plain[1], "a lookup finds either the old region or the new one");
	if (mr)
		srnic_mr_put(mr);

	srnic_mr_hide(&keys, &plain[1]);
	shim_at_load = NULL;
}

static enum srnic_mem_err look_again(u32 key, u64 len, struct srnic_mr **held)
{
	return srnic_mr_get_remote(&keys, key, pd, OWNER, 0, 0, len, held);
}

/* A user looks keys up one after the other, and keeps the last region for the next lookup. */
static void test_again(void)
{
	struct srnic_mr plain = { .kind = SRNIC_MR_PLAIN, .pd = pd, .span.length = PAGE };
	struct srnic_mr fast = { .kind = SRNIC_MR_FAST, .pd = pd };
	struct srnic_mr *held = NULL;

	told = 0;
	srnic_mr_publish(&keys, &plain);
	srnic_fast_alloc(&fast, 1);
	srnic_mr_publish(&keys, &fast);
	show(&fast, fast.key);

	look_again(plain.key, 8, &held);
	tap_check(!look_again(plain.key, 8, &held) && held == &plain &&
		  refcount_read(&plain.refs) == 2,
		  "a region that is held is found again without another reference");
	tap_check(look_again(plain.key, 2 * PAGE, &held) == SRNIC_MEM_RANGE && !held &&
		  refcount_read(&plain.refs) == 1,
		  "its range is checked each time, and a failure drops the reference");
	look_again(plain.key, 8, &held);
	tap_check(!look_again(fast.key, 8, &held) && held == &fast &&
		  refcount_read(&plain.refs) == 1,
		  "another key drops the reference to the first region");
	srnic_mr_invalidate(&keys, fast.key, pd, OWNER, &wait);
	tap_check(look_again(fast.key, 8, &held) == SRNIC_MEM_KEY && !held && told == 1,
		  "a region that was invalidated while it was held is not found again");

	srnic_mr_hide(&keys, &fast);
	srnic_mr_hide(&keys, &plain);
	free(fast.span.block);
	free(fast.next.block);
}

int main(void)
{
	srnic_keys_init(&keys);
	test_fast();
	test_again();
	test_window();
	test_replace();
	srnic_keys_destroy(&keys);

	return tap_end();
}
