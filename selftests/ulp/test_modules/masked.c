// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: atomics with masks
 *
 * A masked CMP_AND_SWP compares the bits of one mask and replaces those of another; a masked
 * FETCH_AND_ADD carries nothing beyond a bit that is set in its mask (commit 5e80ba8ff0bd of the
 * kernel, "IB/core: Add support for masked atomic operations").  What is expected is computed
 * bit by bit, as it is described there.  A device that does not advertise them refuses them.
 */
#include <linux/errno.h>

#include "kverbs.h"

#define CMP_SWAP	IB_WR_MASKED_ATOMIC_CMP_AND_SWP
#define FETCH_ADD	IB_WR_MASKED_ATOMIC_FETCH_AND_ADD

/**
 * struct masked - an operation on a word
 * @opcode: its request, CMP_SWAP or FETCH_ADD
 * @word: what is there before
 * @operand: what is compared, or added
 * @mask: the bits that are compared, or the last ones of fields
 * @swap: what replaces the bits of @swap_mask
 * @swap_mask: the bits that are replaced
 */
struct masked {
	enum ib_wr_opcode	opcode;
	u64			word;
	u64			operand;
	u64			mask;
	u64			swap;
	u64			swap_mask;
};

/* Masks that leave the operation as it is without them */
static const struct masked plain[] = {
	{ CMP_SWAP, 5, 5, ~0ULL, 0x8000000000000007, ~0ULL },
	{ CMP_SWAP, 5, 6, ~0ULL, 7, ~0ULL },
	{ CMP_SWAP, 0x8000000000000005, 5, ~0ULL, 7, ~0ULL },
	{ FETCH_ADD, 0x00000000ffffffff, 1, 0 },
	{ FETCH_ADD, ~0ULL, 0x8000000000000001, 0 },
	{ FETCH_ADD, ~0ULL, 1, 1ULL << 63 },
	{}
};

/* Masks that do not */
static const struct masked some_bits[] = {
	{ CMP_SWAP, 0x1122334455667788, 0xaabbccdd55667788, 0xffffffff, ~0ULL, ~0ULL },
	{ CMP_SWAP, 0x1122334455667788, 0x1122334455667789, 0xffffffff, ~0ULL, ~0ULL },
	{ CMP_SWAP, 0x1122334455667788, 0x1122334455667788, ~0ULL, 0, 0xff00 },
	{ CMP_SWAP, 0x1122334455667788, 0x1122334455667789, ~0ULL, 0, 0xff00 },
	{ CMP_SWAP, 0x1122334455667788, 0, 0, 0xa5a5a5a5a5a5a5a5, ~0ULL },
	{ CMP_SWAP, 0x1122334455667788, 0, 0, 0xa5a5a5a5a5a5a5a5, 0xf0f0f0f0f0f0f0f0 },
	{ CMP_SWAP, 0x1122334455667788, 0x1100000000000000, 0xff00000000000000, 1, 1 },
	{ CMP_SWAP, 0x1122334455667788, 0, 0, ~0ULL, 0 },
	{ FETCH_ADD, 0x00000000ffffffff, 1, 1ULL << 31 },
	{ FETCH_ADD, 0xffffffffffffffff, 0x0001000100010001, 0x8000800080008000 },
	{ FETCH_ADD, 0xff7f807f01ff00ff, 0x0101010101010101, 0x8080808080808080 },
	{ FETCH_ADD, 0xffffffffffffffff, 0xffffffffffffffff, 0x0000000000000001 },
	{ FETCH_ADD, 0x5555555555555555, 0xffffffffffffffff, ~0ULL },
	{}
};

static u64 bit_of(u64 value, int i)
{
	return value >> i & 1;
}

static u64 after_cmp_swap(const struct masked *m)
{
	u64 word = 0;
	int i;

	for (i = 0; i < 64; i++)
		if (bit_of(m->mask, i) && bit_of(m->word, i) != bit_of(m->operand, i))
			return m->word;
	for (i = 0; i < 64; i++)
		word |= bit_of(bit_of(m->swap_mask, i) ? m->swap : m->word, i) << i;

	return word;
}

static u64 after_fetch_add(const struct masked *m)
{
	u64 word = 0, carry = 0, sum;
	int i;

	for (i = 0; i < 64; i++) {
		sum = carry + bit_of(m->word, i) + bit_of(m->operand, i);
		word |= (sum & 1) << i;
		carry = bit_of(m->mask, i) ? 0 : sum >> 1;
	}

	return word;
}

static u64 after(const struct masked *m)
{
	return m->opcode == CMP_SWAP ? after_cmp_swap(m) : after_fetch_add(m);
}

static struct ib_atomic_wr atomic_of(const struct masked *m)
{
	return (struct ib_atomic_wr) {
		.wr.opcode		= m->opcode,
		.compare_add		= m->operand,
		.swap			= m->swap,
		.compare_add_mask	= m->mask,
		.swap_mask		= m->swap_mask,
	};
}

static void execute(struct kv *t, struct kv_end *end, const struct kv_target *at,
		    const struct masked *m, int want)
{
	struct ib_atomic_wr wr = atomic_of(m);

	kv_atomic(t, end, at, &wr, m->word, after(m), want);
}

static struct kv_region *registered(struct kv *t, struct kv_link *link, int access)
{
	struct kv_mem *mem = kv_mem(t, link->own.dev, 104, PAGE_SIZE);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);

	kv_register(t, &link->own, region, mem, access);

	return region;
}

/*
 * Work requests before one that is refused are posted, it is what bad_wr points to, and those
 * behind it are not posted.
 */
static void refused_in_list(struct kv *t, struct kv_link *link, const struct masked *m)
{
	struct ib_sge sge = kv_sge(&link->own, 64), word = kv_sge(&link->own, 8);
	struct ib_send_wr first = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	struct ib_atomic_wr masked = atomic_of(m);
	const struct ib_send_wr *bad = NULL;
	struct kv_op *sent, *received;
	struct ib_send_wr last;
	int err;

	received = kv_post_recv(t, &link->peer);
	sent = kv_op(t, &link->own);
	kv_fill(t, &link->own, 64);
	if (!kv_goes_on(t))
		return;

	kv_signal(sent, &first);
	last = first;
	first.next = &masked.wr;
	masked.wr.sg_list = &word;
	masked.wr.num_sge = 1;
	masked.wr.wr_cqe = &sent->cqe;
	masked.wr.next = &last;
	err = ib_post_send(link->own.qp, &first, &bad);
	kv_want(t, "posting", err, -EINVAL);
	if (bad != &masked.wr)
		kv_fail(t, "bad_wr is not the work request that was refused");
	kv_done(t, "the SEND before it", sent, IB_WC_SUCCESS);
	kv_received(t, &link->peer, received, 64, 0);
	kv_send(t, link, &link->own, IB_WC_SUCCESS);
}

static bool is_advertised(const struct kv_end *end)
{
	return end->dev->attrs.masked_atomic_cap != IB_ATOMIC_NONE;
}

/* Does the case go on?  If the device of the peer has no masked atomics, they are refused. */
static bool has_masked(struct kv *t, struct kv_link *link)
{
	if (!kv_goes_on(t) || is_advertised(&link->peer))
		return kv_goes_on(t);

	refused_in_list(t, link, &plain[0]);
	refused_in_list(t, link, &some_bits[0]);
	t->note = "not advertised, and refused";

	return false;
}

/* --- cases --------------------------------------------------------------- */

/* Any device executes them. */
static void plain_masks(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);
	const struct masked *m;

	if (!has_masked(t, link))
		return;

	for (m = plain; m->opcode; m++)
		execute(t, &link->peer, &region->at, m, IB_WC_SUCCESS);
}

static void other_masks(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);
	const struct masked *m;

	if (!has_masked(t, link))
		return;

	if (!is_advertised(&link->own)) {
		execute(t, &link->peer, &region->at, some_bits, IB_WC_RETRY_EXC_ERR);
		t->note = "the peer does not know them, which takes all retries";
		return;
	}
	for (m = some_bits; m->opcode; m++)
		execute(t, &link->peer, &region->at, m, IB_WC_SUCCESS);
}

/* Masks of one bit, and of all but one */
static void each_bit(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);
	struct masked add = { FETCH_ADD, 0xffffffffffffffff, 0x5555555555555555 };
	struct masked swap = { CMP_SWAP, 0x0123456789abcdef };
	u64 bit;

	if (!has_masked(t, link))
		return;

	for (bit = 1; bit; bit <<= 1) {
		add.mask = bit;
		execute(t, &link->peer, &region->at, &add, IB_WC_SUCCESS);
		swap.operand = ~swap.word ^ bit;
		swap.swap = ~swap.word;
		swap.mask = bit;
		swap.swap_mask = ~bit;
		execute(t, &link->peer, &region->at, &swap, IB_WC_SUCCESS);
		swap.mask = ~bit;
		execute(t, &link->peer, &region->at, &swap, IB_WC_SUCCESS);
	}
}

static void no_right(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_READ | KV_WRITE);

	if (!has_masked(t, link))
		return;

	execute(t, &link->peer, &region->at, plain, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	execute(t, &link->peer, &region->at, some_bits, IB_WC_REM_ACCESS_ERR);
}

static void not_aligned(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);
	struct kv_target at;

	if (!has_masked(t, link))
		return;

	at = region->at;
	at.iova += 4;
	execute(t, &link->peer, &at, some_bits, IB_WC_REM_INV_REQ_ERR);
}

/* More than may be outstanding, on one word: each is executed once, and in order. */
static void many(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);
	const int num = 3 * KV_RD_ATOMIC;
	/* 3 is added to each byte */
	static const struct masked bytes = {
		FETCH_ADD, 0, 0x0303030303030303, 0x8080808080808080
	};
	struct ib_atomic_wr wr = atomic_of(&bytes);
	struct ib_sge sge = kv_sge(&link->peer, sizeof(u64));
	struct kv_op *op;
	u64 *word;
	int i;

	if (!has_masked(t, link))
		return;

	op = kv_op(t, &link->peer);
	if (!kv_goes_on(t))
		return;

	word = sg_virt(region->at.mem->sg);
	*word = 0xf0f0f0f0f0f0f0f0;
	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	wr.remote_addr = region->at.iova;
	wr.rkey = region->at.key;
	for (i = 0; i < num; i++, sge.addr += sizeof(u64)) {
		if (i == num - 1)
			kv_signal(op, &wr.wr);
		kv_post(t, &link->peer, &wr.wr);
	}
	kv_done(t, "the last atomic", op, IB_WC_SUCCESS);
	for (i = 0; i < num && kv_goes_on(t); i++)
		if (((u64 *)link->peer.buf)[i] != (u8)(0xf0 + 3 * i) * 0x0101010101010101)
			kv_fail(t, "number %d returned %#llx", i, ((u64 *)link->peer.buf)[i]);
	if (kv_goes_on(t) && *word != (u8)(0xf0 + 3 * i) * 0x0101010101010101)
		kv_fail(t, "the word is %#llx", *word);
}

const struct kv_case kv_masked_cases[] = {
	{ "masked atomics: masks of the plain ones",		plain_masks },
	{ "masked atomics: other masks",			other_masks },
	{ "masked atomics: masks of each bit",			each_bit },
	{ "masked atomics: more than max_rd_atomic",		many },
	{ "rights: REMOTE_ATOMIC for masked atomics",		no_right },
	{ "refused: a masked atomic that is not aligned",	not_aligned },
	{}
};
