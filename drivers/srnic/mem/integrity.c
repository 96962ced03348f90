// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - integrity regions: T10 protection information between memory and wire
 *
 * A region has a list of data and a list of tuples.  Its addresses are those of the wire: blocks
 * of data, each followed by its tuple if the wire has tuples.  A tuple is generated, or checked,
 * from the data in memory when its last byte is accessed, or the last byte of its block if the
 * wire has no tuples.  So a READ may begin and end anywhere, and may be repeated; what has been
 * checked is not checked again, for the consumer may have changed the memory since.  A WRITE may
 * begin and end anywhere as well if its bytes arrive in order, as those of a queue pair do; a
 * tuple that arrives in pieces is collected in the region.  An error fails no request: it is kept
 * for the consumer, who looks for it when the transfer is complete.
 */
#include <asm/byteorder.h>
#include <linux/crc-t10dif.h>
#include <linux/kconfig.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/checksum.h>

#include "internal.h"

/* Values of the tags with which a block is not checked */
#define PI_APP_ESCAPE	0xffff
#define PI_REF_ESCAPE	0xffffffff

/* Largest block: a peer that accesses a byte of a tuple has its guard computed */
#define PI_INTERVAL_MAX	4160

/* What follows a block */
struct pi_tuple {
	__be16	guard;
	__be16	app;
	__be32	ref;
};

/**
 * struct pi_piece - contiguous memory
 * @start: offset of its first byte in the list
 * @addr: kernel address of that byte
 */
struct pi_piece {
	u64	start;
	u8	*addr;
};

/**
 * struct pi_list - memory of one kind
 * @piece: the pieces, of which none is empty, in order
 * @num: number of pieces
 * @max: capacity of @piece
 * @length: bytes of all pieces
 */
struct pi_list {
	struct pi_piece	*piece;
	u32		num;
	u32		max;
	u64		length;
};

/**
 * struct pi_layout - what a registration consists of
 * @attrs: the domains, and which bytes of a tuple are checked
 * @data: the data in memory
 * @tuples: the tuples in memory
 */
struct pi_layout {
	struct ib_sig_attrs	attrs;
	struct pi_list		data;
	struct pi_list		tuples;
};

/**
 * struct srnic_pi - the integrity part of a region
 * @cur: the registration
 * @next: the next registration, which belongs to the consumer until it is posted
 * @listed: the lists of @next have been filled since the last registration
 * @interval: bytes of data in a block; all data if there are no tuples
 * @stride: bytes on the wire of a block and its tuple
 * @lock: protects the fields below
 * @partial: the tuple that is arriving
 * @failed: @err is valid
 * @err: the first error that the consumer has not been told of
 *
 * The fields above @lock are written as those of struct srnic_mr are: while the key is BUSY.
 */
struct srnic_pi {
	struct pi_layout	cur;
	struct pi_layout	next;
	bool			listed;
	u64			interval;
	u64			stride;
	spinlock_t		lock;	/* protects partial, failed and err */
	struct pi_tuple		partial;
	bool			failed;
	struct ib_sig_err	err;
};

/* --- lists --------------------------------------------------------------- */

static int pi_list_alloc(struct pi_list *list, u32 max)
{
	list->max = max;
	list->piece = kvcalloc(max, sizeof(*list->piece), GFP_KERNEL_ACCOUNT);

	return list->piece ? 0 : -ENOMEM;
}

static void pi_list_clear(struct pi_list *list)
{
	list->num = 0;
	list->length = 0;
}

static int pi_list_add(struct pi_list *list, u64 addr, u32 len)
{
	if (!len)
		return 0;
	if (list->num == list->max)
		return -ENOMEM;

	list->piece[list->num++] = (struct pi_piece) {
		.start	= list->length,
		.addr	= (u8 *)(uintptr_t)addr,
	};
	list->length += len;

	return 0;
}

/* Address of byte @off of @list; *@len is reduced to the bytes contiguous from there. */
static u8 *pi_list_addr(const struct pi_list *list, u64 off, u64 *len)
{
	const struct pi_piece *piece = list->piece;
	u32 low = 0, high = list->num, mid;
	u64 end;

	off = array_index_nospec(off, list->length);
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (piece[mid].start <= off)
			low = mid;
		else
			high = mid;
	}
	end = high < list->num ? piece[high].start : list->length;
	*len = min(*len, end - off);

	return piece[low].addr + (off - piece[low].start);
}

static void pi_list_read(const struct pi_list *list, u64 off, void *dst, u64 len)
{
	u64 n;

	for (; len; len -= n, off += n, dst += n) {
		const u8 *src;

		n = len;
		src = pi_list_addr(list, off, &n);
		memcpy(dst, src, n);
	}
}

static void pi_list_write(const struct pi_list *list, u64 off, const void *src, u64 len)
{
	u64 n;

	for (; len; len -= n, off += n, src += n) {
		u8 *dst;

		n = len;
		dst = pi_list_addr(list, off, &n);
		memcpy(dst, src, n);
	}
}

/* --- tuples -------------------------------------------------------------- */

static bool domain_has_tuples(const struct ib_sig_domain *domain)
{
	return domain->sig_type == IB_SIG_TYPE_T10_DIF;
}

static u16 guard_crc(u16 crc, const u8 *data, u64 len)
{
	return SRNIC_HAVE_INTEGRITY ? crc_t10dif_update(crc, data, len) : 0;
}

/* The guard of @block by the rules of @dif */
static u16 pi_guard(const struct srnic_pi *pi, const struct ib_t10_dif_domain *dif, u64 block)
{
	__wsum sum = csum_unfold((__force __sum16)cpu_to_be16(dif->bg));
	u64 done, n;
	u16 crc = dif->bg;

	for (done = 0; done < pi->interval; done += n) {
		const u8 *data;

		n = pi->interval - done;
		data = pi_list_addr(&pi->cur.data, block * pi->interval + done, &n);
		if (dif->bg_type == IB_T10DIF_CRC)
			crc = guard_crc(crc, data, n);
		else
			sum = csum_block_add(sum, csum_partial(data, n, 0), done);
	}

	return dif->bg_type == IB_T10DIF_CRC ? crc :
	       be16_to_cpu((__force __be16)csum_fold(sum));
}

static u32 dif_ref(const struct ib_t10_dif_domain *dif, u64 block)
{
	return dif->ref_tag + (dif->ref_remap ? (u32)block : 0);
}

/* Is @tuple one of a block that is not to be checked?  Pure. */
static bool dif_is_escaped(const struct ib_t10_dif_domain *dif, const struct pi_tuple *tuple)
{
	return dif->app_escape && be16_to_cpu(tuple->app) == PI_APP_ESCAPE &&
	       (!dif->ref_escape || be32_to_cpu(tuple->ref) == PI_REF_ESCAPE);
}

/* The bits that @num bits of a check mask, one for a byte, stand for.  Pure. */
static u32 check_bits(u8 mask, u32 num)
{
	u32 bits = 0;

	while (num--)
		bits = bits << 8 | (mask & BIT(num) ? 0xff : 0);

	return bits;
}

/* Keeps the error if it is the first one. */
static void pi_fail(struct srnic_mr *mr, u64 block, enum ib_sig_err_type type, u32 expected,
		    u32 actual)
{
	struct srnic_pi *pi = mr->pi;

	spin_lock_bh(&pi->lock);
	if (!pi->failed) {
		pi->failed = true;
		pi->err = (struct ib_sig_err) {
			.err_type	= type,
			.expected	= expected,
			.actual		= actual,
			/* of the block, as if each one had a tuple on the wire */
			.sig_err_offset	= block * (pi->interval + sizeof(struct pi_tuple)),
			.key		= mr->key,
		};
	}
	spin_unlock_bh(&pi->lock);
}

/* Checks @tuple of @block, which is by the rules of @dif. */
static void pi_check(struct srnic_mr *mr, const struct ib_t10_dif_domain *dif, u64 block,
		     const struct pi_tuple *tuple)
{
	const struct srnic_pi *pi = mr->pi;
	u8 mask = pi->cur.attrs.check_mask;
	u32 guards = check_bits((mask & IB_SIG_CHECK_GUARD) >> 6, 2);
	u32 apps = check_bits((mask & IB_SIG_CHECK_APPTAG) >> 4, 2) & dif->apptag_check_mask;
	u32 refs = check_bits(mask & IB_SIG_CHECK_REFTAG, 4);
	u16 guard, app = be16_to_cpu(tuple->app);
	u32 ref = be32_to_cpu(tuple->ref);

	if (dif_is_escaped(dif, tuple))
		return;

	guard = guards ? pi_guard(pi, dif, block) : 0;
	if ((guard ^ be16_to_cpu(tuple->guard)) & guards)
		pi_fail(mr, block, IB_SIG_BAD_GUARD, guard, be16_to_cpu(tuple->guard));
	else if ((dif_ref(dif, block) ^ ref) & refs)
		pi_fail(mr, block, IB_SIG_BAD_REFTAG, dif_ref(dif, block), ref);
	else if ((dif->app_tag ^ app) & apps)
		pi_fail(mr, block, IB_SIG_BAD_APPTAG, dif->app_tag, app);
}

/*
 * The tuple of @block by the rules of domain @to.  If it has one in domain @from, @tuple, the
 * fields that both domains define alike are copied.
 */
static struct pi_tuple pi_convert(const struct srnic_pi *pi, const struct ib_sig_domain *from,
				  const struct pi_tuple *tuple, const struct ib_sig_domain *to,
				  u64 block)
{
	const struct ib_t10_dif_domain *a = &from->sig.dif, *b = &to->sig.dif;
	bool copy = domain_has_tuples(from);

	return (struct pi_tuple) {
		.guard	= copy && a->bg_type == b->bg_type ?
			  tuple->guard : cpu_to_be16(pi_guard(pi, b, block)),
		.app	= copy && a->app_tag == b->app_tag ?
			  tuple->app : cpu_to_be16(b->app_tag),
		.ref	= copy && a->ref_tag == b->ref_tag ?
			  tuple->ref : cpu_to_be32(dif_ref(b, block)),
	};
}

/* --- blocks on their way ------------------------------------------------- */

/* @block leaves memory, and is checked with @check.  Return: its tuple on the wire, if any */
static struct pi_tuple pi_leave(struct srnic_mr *mr, u64 block, bool check)
{
	const struct srnic_pi *pi = mr->pi;
	const struct ib_sig_attrs *attrs = &pi->cur.attrs;
	struct pi_tuple tuple = {};

	if (domain_has_tuples(&attrs->mem)) {
		pi_list_read(&pi->cur.tuples, block * sizeof(tuple), &tuple, sizeof(tuple));
		if (check)
			pi_check(mr, &attrs->mem.sig.dif, block, &tuple);
	}

	return domain_has_tuples(&attrs->wire) ?
	       pi_convert(pi, &attrs->mem, &tuple, &attrs->wire, block) : tuple;
}

/* @block has arrived, with @tuple if it has one on the wire. */
static void pi_arrive(struct srnic_mr *mr, u64 block, const struct pi_tuple *tuple)
{
	const struct srnic_pi *pi = mr->pi;
	const struct ib_sig_attrs *attrs = &pi->cur.attrs;
	struct pi_tuple kept;

	if (domain_has_tuples(&attrs->wire))
		pi_check(mr, &attrs->wire.sig.dif, block, tuple);
	if (!domain_has_tuples(&attrs->mem))
		return;
	kept = pi_convert(pi, &attrs->wire, tuple, &attrs->mem, block);
	pi_list_write(&pi->cur.tuples, block * sizeof(kept), &kept, sizeof(kept));
}

/**
 * struct pi_part - part of an access, which is all data or all tuple
 * @block: number of its block
 * @off: offset within the data, or within the tuple
 * @len: length in bytes
 * @tuple: it is tuple
 * @ends: it has the last byte on the wire of its block
 */
struct pi_part {
	u64	block;
	u64	off;
	u64	len;
	bool	tuple;
	bool	ends;
};

/* The first part of [@pos, @pos + @len).  Pure. */
static struct pi_part pi_part(const struct srnic_pi *pi, u64 pos, u64 len)
{
	struct pi_part part = { .block = pos / pi->stride };
	u64 off = pos % pi->stride, end;

	part.tuple = off >= pi->interval;
	end = part.tuple ? pi->stride : pi->interval;
	part.off = part.tuple ? off - pi->interval : off;
	part.len = min(len, end - off);
	part.ends = off + part.len == pi->stride;

	return part;
}

static u64 part_data(const struct srnic_pi *pi, const struct pi_part *part)
{
	return part->block * pi->interval + part->off;
}

void srnic_pi_read(struct srnic_mr *mr, u64 addr, void *dst, u64 len, bool check)
{
	const struct srnic_pi *pi = mr->pi;
	u64 pos = addr - mr->span.iova;
	struct pi_tuple tuple = {};
	struct pi_part part;

	for (; len; len -= part.len, pos += part.len, dst += part.len) {
		part = pi_part(pi, pos, len);
		if (!part.tuple)
			pi_list_read(&pi->cur.data, part_data(pi, &part), dst, part.len);
		if (part.tuple || part.ends)
			tuple = pi_leave(mr, part.block, check);
		if (part.tuple)
			memcpy(dst, (u8 *)&tuple + part.off, part.len);
	}
}

/* Adds to the tuple that is arriving.  Return: that tuple */
static struct pi_tuple pi_collect(struct srnic_pi *pi, u64 off, const void *src, u64 len)
{
	struct pi_tuple tuple;

	spin_lock_bh(&pi->lock);
	memcpy((u8 *)&pi->partial + off, src, len);
	tuple = pi->partial;
	spin_unlock_bh(&pi->lock);

	return tuple;
}

void srnic_pi_write(struct srnic_mr *mr, u64 addr, const void *src, u64 len)
{
	u64 pos = addr - mr->span.iova;
	struct srnic_pi *pi = mr->pi;
	struct pi_tuple tuple = {};
	struct pi_part part;

	for (; len; len -= part.len, pos += part.len, src += part.len) {
		part = pi_part(pi, pos, len);
		if (part.tuple)
			tuple = pi_collect(pi, part.off, src, part.len);
		else
			pi_list_write(&pi->cur.data, part_data(pi, &part), src, part.len);
		if (part.ends)
			pi_arrive(mr, part.block, &tuple);
	}
}

/* --- registration -------------------------------------------------------- */

static void layout_free(struct pi_layout *layout)
{
	kvfree(layout->data.piece);
	kvfree(layout->tuples.piece);
}

void srnic_pi_free(struct srnic_mr *mr)
{
	struct srnic_pi *pi = mr->pi;

	if (!pi)
		return;

	layout_free(&pi->cur);
	layout_free(&pi->next);
	kfree(pi);
	mr->pi = NULL;
}

int srnic_pi_alloc(struct srnic_mr *mr, u32 max_data, u32 max_tuples)
{
	struct srnic_pi *pi = kzalloc(sizeof(*pi), GFP_KERNEL_ACCOUNT);
	int err;

	if (!pi)
		return -ENOMEM;

	spin_lock_init(&pi->lock);
	mr->pi = pi;
	mr->span.indirect = true;
	err = pi_list_alloc(&pi->cur.data, max_data) ?:
	      pi_list_alloc(&pi->next.data, max_data);
	if (!err && max_tuples)
		err = pi_list_alloc(&pi->cur.tuples, max_tuples) ?:
		      pi_list_alloc(&pi->next.tuples, max_tuples);

	return err;
}

void srnic_pi_begin(struct srnic_mr *mr)
{
	pi_list_clear(&mr->pi->next.data);
	pi_list_clear(&mr->pi->next.tuples);
	mr->pi->listed = true;
}

int srnic_pi_add_data(struct srnic_mr *mr, u64 addr, u32 len)
{
	return pi_list_add(&mr->pi->next.data, addr, len);
}

int srnic_pi_add_tuples(struct srnic_mr *mr, u64 addr, u32 len)
{
	return pi_list_add(&mr->pi->next.tuples, addr, len);
}

/* Is this a domain that the device can have?  Pure. */
static bool domain_ok(const struct ib_sig_domain *domain)
{
	const struct ib_t10_dif_domain *dif = &domain->sig.dif;

	switch (domain->sig_type) {
	case IB_SIG_TYPE_NONE:
		return true;
	case IB_SIG_TYPE_T10_DIF:
		return dif->pi_interval && dif->pi_interval <= PI_INTERVAL_MAX &&
		       (dif->bg_type == IB_T10DIF_CRC || dif->bg_type == IB_T10DIF_CSUM);
	default:
		return false;
	}
}

/* Bytes of data in a block, @length if there are no tuples; 0: not possible.  Pure. */
static u64 attrs_interval(const struct ib_sig_attrs *attrs, u64 length)
{
	const struct ib_sig_domain *mem = &attrs->mem, *wire = &attrs->wire;

	if (!domain_ok(mem) || !domain_ok(wire))
		return 0;
	if (!domain_has_tuples(mem))
		return domain_has_tuples(wire) ? wire->sig.dif.pi_interval : length;
	if (domain_has_tuples(wire) && mem->sig.dif.pi_interval != wire->sig.dif.pi_interval)
		return 0;

	return mem->sig.dif.pi_interval;
}

/* Bytes on the wire of @data and @tuples with @attrs; 0: they do not fit together.  Pure. */
static u64 layout_length(const struct ib_sig_attrs *attrs, const struct pi_list *data,
			 const struct pi_list *tuples)
{
	u64 interval = attrs_interval(attrs, data->length), bytes;

	if (!interval || data->length % interval)
		return 0;

	bytes = data->length / interval * sizeof(struct pi_tuple);
	if (domain_has_tuples(&attrs->mem) && tuples->length < bytes)
		return 0;

	return data->length + (domain_has_tuples(&attrs->wire) ? bytes : 0);
}

u64 srnic_pi_prepare(struct srnic_mr *mr, const struct ib_sig_attrs *attrs)
{
	struct srnic_pi *pi = mr->pi;
	const struct pi_layout *lists = pi->listed ? &pi->next : &pi->cur;

	pi->next.attrs = *attrs;

	return layout_length(attrs, &lists->data, &lists->tuples);
}

bool srnic_pi_take(struct srnic_mr *mr, u64 length)
{
	struct srnic_pi *pi = mr->pi;
	const struct pi_layout *cur = &pi->cur;

	pi->cur.attrs = pi->next.attrs;
	if (pi->listed) {
		swap(pi->cur.data, pi->next.data);
		swap(pi->cur.tuples, pi->next.tuples);
		pi->listed = false;
	}
	if (!length || layout_length(&cur->attrs, &cur->data, &cur->tuples) != length)
		return false;

	pi->interval = attrs_interval(&cur->attrs, cur->data.length);
	pi->stride = pi->interval;
	if (domain_has_tuples(&cur->attrs.wire))
		pi->stride += sizeof(struct pi_tuple);
	pi->partial = (struct pi_tuple) {};
	pi->failed = false;

	return true;
}

bool srnic_pi_take_error(struct srnic_mr *mr, struct ib_sig_err *err)
{
	struct srnic_pi *pi = mr->pi;
	bool failed;

	spin_lock_bh(&pi->lock);
	failed = pi->failed;
	if (failed)
		*err = pi->err;
	pi->failed = false;
	spin_unlock_bh(&pi->lock);

	return failed;
}
