// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: protection information (T10-PI), as a device generates and checks
 * it between memory and wire
 *
 * The expected tuples are computed here, bit by bit.  The peer's buffer is the wire: blocks with
 * their tuples, if the wire has tuples.  <rdma/signature.h> has the domains; the kernel's
 * consumers rely on errors that fail no request, and are reported once by ib_check_mr_status().
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/signature.h>

#include "kverbs.h"

#define BLOCK		512
#define NUM_BLOCKS	20
#define APP		0xbeef
#define REF		0xfffffffe	/* wraps */
#define BLANK		0xa5

struct tuple {
	__be16	guard;
	__be16	app;
	__be32	ref;
};

/**
 * struct pi - a region with protection information
 * @link: where it is used
 * @region: the region
 * @data: its data in memory
 * @meta: its tuples in memory
 * @attrs: how the tuples are made and checked
 * @block: bytes of data in a block
 * @len: bytes of all data
 * @wire_len: bytes on the wire
 */
struct pi {
	struct kv_link		*link;
	struct kv_region	*region;
	struct kv_mem		*data;
	struct kv_mem		*meta;
	struct ib_sig_attrs	attrs;
	u32			block;
	u32			len;
	u32			wire_len;
};

/* --- what is expected ---------------------------------------------------- */

static u16 crc(const u8 *at, u32 len)
{
	u32 rest = 0, bit;

	for (; len--; at++) {
		rest ^= *at << 8;
		for (bit = 0; bit < 8; bit++) {
			rest <<= 1;
			if (rest & 0x10000)
				rest ^= 0x18bb7;
		}
	}

	return rest;
}

static u16 inet_sum(const u8 *at, u32 len)
{
	u32 sum = 0, i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? at[i] : at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);

	return ~sum;
}

static bool has_tuples(const struct ib_sig_domain *domain)
{
	return domain->sig_type == IB_SIG_TYPE_T10_DIF;
}

/* The tuple of block @i, which is at @at, in @domain */
static struct tuple tuple_of(const struct pi *pi, const struct ib_sig_domain *domain,
			     const u8 *at, u32 i)
{
	u16 guard = domain->sig.dif.bg_type == IB_T10DIF_CRC ? crc(at, pi->block) :
							       inet_sum(at, pi->block);

	return (struct tuple) {
		.guard	= cpu_to_be16(guard),
		.app	= cpu_to_be16(APP),
		.ref	= cpu_to_be32(REF + i),
	};
}

/* Copies the list of @mem to or from @buf. */
static void mem_copy(struct kv_mem *mem, u8 *buf, bool in)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(mem->sg, sg, mem->nents, i) {
		memcpy(in ? sg_virt(sg) : buf, in ? buf : sg_virt(sg), sg->length);
		buf += sg->length;
	}
}

/*
 * Makes the pattern in own.buf what memory is to have, data and tuples, and @wire what the wire
 * is to have.
 */
static void expect(struct kv *t, struct pi *pi, u8 *wire)
{
	u8 *at = pi->link->own.buf, *meta = at + pi->len;
	struct tuple tuple;
	u32 i;

	kv_fill(t, &pi->link->own, pi->len);
	for (i = 0; i < pi->len / pi->block; i++, at += pi->block) {
		memcpy(wire, at, pi->block);
		wire += pi->block;
		if (has_tuples(&pi->attrs.wire)) {
			tuple = tuple_of(pi, &pi->attrs.wire, at, i);
			memcpy(wire, &tuple, sizeof(tuple));
			wire += sizeof(tuple);
		}
		if (has_tuples(&pi->attrs.mem)) {
			tuple = tuple_of(pi, &pi->attrs.mem, at, i);
			memcpy(meta, &tuple, sizeof(tuple));
			meta += sizeof(tuple);
		}
	}
}

/* --- steps --------------------------------------------------------------- */

enum { NONE, CRC, CSUM, NUM_DOMAINS };

static struct ib_sig_domain domain(int kind, u32 block)
{
	if (kind == NONE)
		return (struct ib_sig_domain) {};

	return (struct ib_sig_domain) {
		.sig_type	= IB_SIG_TYPE_T10_DIF,
		.sig.dif	= {
			.bg_type		= kind == CRC ? IB_T10DIF_CRC : IB_T10DIF_CSUM,
			.pi_interval		= block,
			.app_tag		= APP,
			.ref_tag		= REF,
			.ref_remap		= true,
			.apptag_check_mask	= 0xffff,
		},
	};
}

/* Memory that starts at @start, for @blocks blocks of @block bytes; a region for both lists */
static void make(struct kv *t, struct pi *pi, u32 block, u32 blocks, u32 start)
{
	*pi = (struct pi) {
		.link	= kv_link(t),
		.block	= block,
		.len	= block * blocks,
	};
	pi->data = kv_mem(t, pi->link->own.dev, start, pi->len);
	pi->meta = kv_mem(t, pi->link->own.dev, start, blocks * sizeof(struct tuple));
	pi->region = kv_integrity_region(t, pi->link->own.pd, KV_PAGES);
}

/* The domains of the next registration */
static void set_domains(struct pi *pi, int mem, int wire)
{
	pi->attrs = (struct ib_sig_attrs) {
		.check_mask	= 0xff,
		.mem		= domain(mem, pi->block),
		.wire		= domain(wire, pi->block),
	};
	pi->wire_len = pi->len;
	if (wire != NONE)
		pi->wire_len += pi->len / pi->block * sizeof(struct tuple);
}

static struct ib_reg_wr new_reg_wr(struct kv *t, const struct pi *pi, int access)
{
	struct ib_reg_wr wr = kv_reg_wr(t, pi->region, access);

	wr.wr.opcode = IB_WR_REG_MR_INTEGRITY;

	return wr;
}

/* Maps the lists.  Memory without tuples has no list of them. */
static void map(struct kv *t, struct pi *pi)
{
	int meta = has_tuples(&pi->attrs.mem) ? pi->meta->nents : 0, err;
	struct ib_mr *mr;

	if (!kv_goes_on(t))
		return;

	mr = pi->region->mr;
	err = ib_map_mr_sg_pi(mr, pi->data->sg, pi->data->nents, NULL, pi->meta->sg, meta, NULL,
			      PAGE_SIZE);
	if (err)
		kv_fail(t, "the lists cannot be mapped, %d", err);
	else if (mr->length != pi->len + (meta ? pi->len / pi->block * sizeof(struct tuple) : 0))
		kv_fail(t, "the region has %llu bytes", mr->length);
	*mr->sig_attrs = pi->attrs;
}

static void reg(struct kv *t, struct pi *pi, int access, int want)
{
	struct ib_reg_wr wr = new_reg_wr(t, pi, access);

	kv_want(t, "REG_MR", kv_do(t, &pi->link->own, "REG_MR", &wr.wr), want);
	if (!kv_goes_on(t))
		return;

	pi->region->at = (struct kv_target) {
		.iova	= pi->region->mr->iova,
		.len	= pi->wire_len,
		.key	= pi->region->mr->rkey,
	};
}

static void enroll(struct kv *t, struct pi *pi, int mem, int wire)
{
	set_domains(pi, mem, wire);
	map(t, pi);
	kv_new_key(t, pi->region);
	reg(t, pi, KV_READ | KV_WRITE, IB_WC_SUCCESS);
}

static void unroll(struct kv *t, struct pi *pi)
{
	kv_inv(t, &pi->link->own, pi->region->at.key, IB_WC_SUCCESS);
}

/* The peer accesses the region in requests of up to @most bytes. */
static void transfer(struct kv *t, struct pi *pi, enum ib_wr_opcode opcode, u32 most)
{
	u32 pos, n;

	for (pos = 0; pos < pi->wire_len && kv_goes_on(t); pos += n) {
		struct ib_sge sge = kv_sge(&pi->link->peer, min(most, pi->wire_len - pos));
		struct ib_rdma_wr wr = kv_rdma_wr(opcode, &pi->region->at, &sge);

		n = sge.length;
		sge.addr += pos;
		wr.remote_addr += pos;
		kv_request(t, &pi->link->peer, "the request", &wr.wr, IB_WC_SUCCESS);
	}
}

/* There is no error, or the one of the block at @offset, which is then told once. */
static void told(struct kv *t, struct pi *pi, int want, u32 expected, u32 actual, u64 offset)
{
	struct ib_mr_status got;
	struct ib_sig_err *sig = &got.sig_err;
	int err;

	if (!kv_goes_on(t))
		return;

	err = ib_check_mr_status(pi->region->mr, IB_MR_CHECK_SIG_STATUS, &got);
	if (err)
		kv_fail(t, "the status cannot be checked, %d", err);
	else if (got.fail_status != (want < 0 ? 0 : IB_MR_CHECK_SIG_STATUS))
		kv_fail(t, "the status is %#x, error %d", got.fail_status, sig->err_type);
	else if (want >= 0 && (sig->err_type != want || sig->expected != expected ||
			       sig->actual != actual || sig->sig_err_offset != offset ||
			       sig->key != pi->region->at.key))
		kv_fail(t, "error %d, %#x is not %#x, at %llu, key %#x", sig->err_type,
			sig->actual, sig->expected, sig->sig_err_offset, sig->key);
	if (want >= 0)
		told(t, pi, -1, 0, 0, 0);
}

static void clean(struct kv *t, struct pi *pi)
{
	told(t, pi, -1, 0, 0, 0);
}

static void same(struct kv *t, const char *what, const u8 *got, const u8 *want, u32 len)
{
	u32 i = 0;

	if (!kv_goes_on(t) || !memcmp(got, want, len))
		return;

	while (got[i] == want[i])
		i++;
	kv_fail(t, "byte %u of %s is %#x, not %#x", i, what, got[i], want[i]);
}

/* Memory has what own.buf has, and no other byte was written. */
static void memory_same(struct kv *t, struct pi *pi)
{
	u32 meta = has_tuples(&pi->attrs.mem) ? pi->len / pi->block * sizeof(struct tuple) : 0;
	u8 *got = kmalloc(KV_BYTES, GFP_KERNEL);
	int i;

	if (!kv_goes_on(t) || !got) {
		kv_fail(t, "no memory");
		kfree(got);
		return;
	}
	mem_copy(pi->data, got, false);
	same(t, "the data", got, pi->link->own.buf, pi->len);
	memset(got, BLANK, KV_BYTES);
	mem_copy(pi->data, got, true);
	mem_copy(pi->meta, got, false);
	if (meta)
		same(t, "the tuples", got, pi->link->own.buf + pi->len, meta);
	memset(got, BLANK, KV_BYTES);
	if (meta)
		mem_copy(pi->meta, got, true);
	for (i = 0; i < pi->data->num; i++)
		same(t, "the data's page", page_address(pi->data->page[i]), got, PAGE_SIZE);
	for (i = 0; i < pi->meta->num; i++)
		same(t, "the tuples' page", page_address(pi->meta->page[i]), got, PAGE_SIZE);
	kfree(got);
}

static void blank(struct kv *t, struct pi *pi)
{
	if (!kv_goes_on(t))
		return;

	kv_blank(pi->data);
	kv_blank(pi->meta);
}

/* What the peer writes arrives in memory. */
static void writes(struct kv *t, struct pi *pi, u32 most)
{
	if (!kv_goes_on(t))
		return;

	expect(t, pi, pi->link->peer.buf);
	blank(t, pi);
	transfer(t, pi, IB_WR_RDMA_WRITE, most);
	clean(t, pi);
	memory_same(t, pi);
}

/* What the peer reads is what memory has. */
static void reads(struct kv *t, struct pi *pi, u32 most)
{
	struct kv_end *peer = &pi->link->peer;
	u8 *wire;

	if (!kv_goes_on(t))
		return;

	wire = kmalloc(KV_BYTES, GFP_KERNEL);
	if (!wire) {
		kv_fail(t, "no memory");
		return;
	}
	expect(t, pi, wire);
	mem_copy(pi->data, pi->link->own.buf, true);
	if (has_tuples(&pi->attrs.mem))
		mem_copy(pi->meta, pi->link->own.buf + pi->len, true);
	memset(peer->buf, BLANK, KV_BYTES);
	transfer(t, pi, IB_WR_RDMA_READ, most);
	clean(t, pi);
	same(t, "what was read", peer->buf, wire, pi->wire_len);
	kfree(wire);
}

/* --- cases --------------------------------------------------------------- */

/* All pairs of domains; in one request, and in some that split blocks and tuples */
static void pairs(struct kv *t, u32 block, u32 blocks, u32 start)
{
	struct pi pi;
	int mem, wire;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, block, blocks, start);
	for (mem = NONE; mem < NUM_DOMAINS; mem++) {
		for (wire = NONE; wire < NUM_DOMAINS && kv_goes_on(t); wire++) {
			enroll(t, &pi, mem, wire);
			writes(t, &pi, pi.wire_len);
			reads(t, &pi, pi.wire_len);
			writes(t, &pi, 773);
			reads(t, &pi, 773);
			unroll(t, &pi);
		}
	}
}

static void pairs_512(struct kv *t)
{
	pairs(t, BLOCK, NUM_BLOCKS, 0);
}

static void pairs_4096(struct kv *t)
{
	pairs(t, 4096, 3, 0);
}

/* Blocks and tuples that lie in two pages */
static void pairs_anywhere(struct kv *t)
{
	pairs(t, BLOCK, NUM_BLOCKS, PAGE_SIZE - 101);
}

/* Lists of pieces with gaps between them, as requests have that were merged */
static void gaps(struct kv *t)
{
	struct pi pi;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, 4, 0);
	kv_list_begin(t, pi.data, 3);
	kv_list_add(t, pi.data, 2, 1000, 700);
	kv_list_add(t, pi.data, 0, 5, 1);
	kv_list_add(t, pi.data, 1, 100, 4 * BLOCK - 701);
	kv_list_end(t, pi.data);
	kv_list_begin(t, pi.meta, 3);
	kv_list_add(t, pi.meta, 1, 17, 3);
	kv_list_add(t, pi.meta, 0, 50, 14);
	kv_list_add(t, pi.meta, 2, 0, 15);
	kv_list_end(t, pi.meta);
	enroll(t, &pi, CRC, CRC);
	writes(t, &pi, pi.wire_len);
	reads(t, &pi, pi.wire_len);
	writes(t, &pi, 99);
	reads(t, &pi, 99);
}

/* What is wrong with the tuple of block 3 */
static const struct {
	u16	guard;
	u16	app;
	u32	ref;
	int	type;
} wrongs[] = {
	{ .guard = 0x0100, .type = IB_SIG_BAD_GUARD },
	{ .app = 0x0001, .type = IB_SIG_BAD_APPTAG },
	{ .ref = 0x10000, .type = IB_SIG_BAD_REFTAG },
	{ 0x8000, 0x8000, 0x8000, IB_SIG_BAD_GUARD },
};

static void damage(u8 *at, size_t which)
{
	struct tuple tuple;

	memcpy(&tuple, at, sizeof(tuple));
	tuple.guard ^= cpu_to_be16(wrongs[which].guard);
	tuple.app ^= cpu_to_be16(wrongs[which].app);
	tuple.ref ^= cpu_to_be32(wrongs[which].ref);
	memcpy(at, &tuple, sizeof(tuple));
}

/* The error of that damage to @right, the correct tuple, is reported. */
static void reported(struct kv *t, struct pi *pi, size_t which, const struct tuple *right)
{
	u32 guard = be16_to_cpu(right->guard), app = be16_to_cpu(right->app);
	u32 ref = be32_to_cpu(right->ref);
	u64 offset = 3 * (pi->block + sizeof(*right));

	switch (wrongs[which].type) {
	case IB_SIG_BAD_GUARD:
		return told(t, pi, IB_SIG_BAD_GUARD, guard, guard ^ wrongs[which].guard, offset);
	case IB_SIG_BAD_APPTAG:
		return told(t, pi, IB_SIG_BAD_APPTAG, app, app ^ wrongs[which].app, offset);
	default:
		return told(t, pi, IB_SIG_BAD_REFTAG, ref, ref ^ wrongs[which].ref, offset);
	}
}

static void wrong_write(struct kv *t, struct pi *pi, size_t which)
{
	u8 *at = pi->link->peer.buf + 3 * (pi->block + sizeof(struct tuple)) + pi->block;
	struct tuple right;

	if (!kv_goes_on(t))
		return;

	expect(t, pi, pi->link->peer.buf);
	memcpy(&right, at, sizeof(right));
	damage(at, which);
	transfer(t, pi, IB_WR_RDMA_WRITE, pi->wire_len);
	reported(t, pi, which, &right);
}

static void wrong_read(struct kv *t, struct pi *pi, size_t which)
{
	u8 *at = pi->link->own.buf + pi->len + 3 * sizeof(struct tuple);
	struct tuple right;

	if (!kv_goes_on(t))
		return;

	expect(t, pi, pi->link->peer.buf);
	memcpy(&right, at, sizeof(right));
	damage(at, which);
	mem_copy(pi->data, pi->link->own.buf, true);
	mem_copy(pi->meta, pi->link->own.buf + pi->len, true);
	transfer(t, pi, IB_WR_RDMA_READ, pi->wire_len);
	reported(t, pi, which, &right);
}

/* An error fails no request, and the region can be used again. */
static void wrong(struct kv *t)
{
	struct pi pi;
	size_t i;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	for (i = 0; i < ARRAY_SIZE(wrongs); i++) {
		enroll(t, &pi, CRC, CRC);
		wrong_write(t, &pi, i);
		wrong_read(t, &pi, i);
		unroll(t, &pi);
		enroll(t, &pi, NONE, CSUM);
		wrong_write(t, &pi, i);
		unroll(t, &pi);
		enroll(t, &pi, CSUM, NONE);
		wrong_read(t, &pi, i);
		unroll(t, &pi);
		enroll(t, &pi, CSUM, CRC);
		wrong_write(t, &pi, i);
		wrong_read(t, &pi, i);
		writes(t, &pi, pi.wire_len);
		unroll(t, &pi);
	}
}

/* Data of the wire that was damaged on its way, with the tuple that it had */
static void wrong_data(struct kv *t)
{
	struct pi pi;
	u8 *at;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	enroll(t, &pi, NONE, CRC);
	if (!kv_goes_on(t))
		return;

	expect(t, &pi, pi.link->peer.buf);
	at = pi.link->peer.buf + 19 * (BLOCK + sizeof(struct tuple));
	at[77] ^= 4;
	transfer(t, &pi, IB_WR_RDMA_WRITE, pi.wire_len);
	told(t, &pi, IB_SIG_BAD_GUARD, crc(at, BLOCK),
	     be16_to_cpup((__be16 *)(at + BLOCK)), at - pi.link->peer.buf);
}

/* The region as source and sink of requests of its own end, as targets use it */
static void local(struct kv *t, struct pi *pi, struct kv_region *remote, enum ib_wr_opcode opcode)
{
	struct ib_sge sge = {
		.addr	= pi->region->at.iova,
		.length	= pi->wire_len,
		.lkey	= pi->region->at.key,
	};
	struct ib_rdma_wr wr = kv_rdma_wr(opcode, &remote->at, &sge);

	kv_request(t, &pi->link->own, "the request", &wr.wr, IB_WC_SUCCESS);
	clean(t, pi);
}

/* A READ from the peer's memory, which is the wire, and a WRITE back to it */
static void local_pair(struct kv *t, struct pi *pi, struct kv_region *remote)
{
	u8 *wire = pi->link->peer.buf, *got;

	reg(t, pi, IB_ACCESS_LOCAL_WRITE, IB_WC_SUCCESS);
	if (!kv_goes_on(t))
		return;

	expect(t, pi, wire);
	mem_copy(remote->at.mem, wire, true);
	blank(t, pi);
	local(t, pi, remote, IB_WR_RDMA_READ);
	memory_same(t, pi);
	/* memory_same() has cleared memory. */
	mem_copy(pi->data, pi->link->own.buf, true);
	mem_copy(pi->meta, pi->link->own.buf + pi->len, true);
	kv_blank(remote->at.mem);
	local(t, pi, remote, IB_WR_RDMA_WRITE);
	got = kmalloc(KV_BYTES, GFP_KERNEL);
	if (got) {
		mem_copy(remote->at.mem, got, false);
		same(t, "what was written", got, wire, pi->wire_len);
	} else {
		kv_fail(t, "no memory");
	}
	kfree(got);
}

static void local_use(struct kv *t)
{
	struct kv_region *remote;
	struct kv_mem *mem;
	struct pi pi;
	int kind, wire;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 300);
	mem = kv_mem(t, pi.link->peer.dev, 0, KV_BYTES);
	remote = kv_region(t, pi.link->peer.pd, KV_PAGES);
	kv_register(t, &pi.link->peer, remote, mem, KV_ALL);
	for (kind = NONE; kind < NUM_DOMAINS; kind++) {
		for (wire = NONE; wire < NUM_DOMAINS && kv_goes_on(t); wire++) {
			set_domains(&pi, kind, wire);
			map(t, &pi);
			kv_new_key(t, pi.region);
			local_pair(t, &pi, remote);
			unroll(t, &pi);
		}
	}
}

/* The next list and domains while the region is valid; many registrations */
static void cycles(struct kv *t)
{
	struct pi pi;
	u32 old;
	int i;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	enroll(t, &pi, CRC, CRC);
	for (i = 0; i < 50 && kv_goes_on(t); i++) {
		old = pi.region->at.key;
		/* not those that are registered */
		set_domains(&pi, i % NUM_DOMAINS, CSUM);
		map(t, &pi);
		kv_new_key(t, pi.region);
		kv_inv(t, &pi.link->own, old, IB_WC_SUCCESS);
		reg(t, &pi, KV_READ | KV_WRITE, IB_WC_SUCCESS);
		writes(t, &pi, pi.wire_len);
		reads(t, &pi, pi.wire_len);
	}
}

/* Memory may change once a READ is complete, although its request may arrive again. */
static void changes(struct kv *t)
{
	struct pi pi;
	int i;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	enroll(t, &pi, CRC, CRC);
	for (i = 0; i < 100 && kv_goes_on(t); i++) {
		reads(t, &pi, pi.wire_len);
		blank(t, &pi);
		/* meanwhile requests arrive again */
		kv_send(t, pi.link, &pi.link->peer, IB_WC_SUCCESS);
		clean(t, &pi);
	}
}

/* An error that was not looked for ends with the registration. */
static void new_status(struct kv *t)
{
	struct pi pi;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	enroll(t, &pi, CRC, CRC);
	if (!kv_goes_on(t))
		return;

	expect(t, &pi, pi.link->peer.buf);
	damage(pi.link->peer.buf + BLOCK, 0);
	transfer(t, &pi, IB_WR_RDMA_WRITE, pi.wire_len);
	unroll(t, &pi);
	enroll(t, &pi, CRC, CRC);
	clean(t, &pi);
}

/* The peer tries [@from, @from + @len) of the wire, and is refused. */
static void refused(struct kv *t, struct pi *pi, u64 from, u32 len)
{
	struct kv_target at = pi->region->at;

	at.iova += from;
	at.len = len;
	kv_write(t, &pi->link->peer, &at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, pi->link);
	kv_read(t, &pi->link->peer, &at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, pi->link);
}

/* The bounds are those of the wire. */
static void bounds(struct kv *t)
{
	struct pi pi;
	int wire;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	for (wire = NONE; wire < NUM_DOMAINS && kv_goes_on(t); wire++) {
		enroll(t, &pi, CRC, wire);
		refused(t, &pi, 0, pi.wire_len + 1);
		refused(t, &pi, 1, pi.wire_len);
		refused(t, &pi, pi.wire_len, 1);
		refused(t, &pi, -1ULL, 1);
		refused(t, &pi, U64_MAX - 7, 16);
		writes(t, &pi, pi.wire_len);
		unroll(t, &pi);
		refused(t, &pi, 0, pi.wire_len);
	}
}

static void refused_reg(struct kv *t, struct pi *pi, int access)
{
	map(t, pi);
	kv_new_key(t, pi->region);
	reg(t, pi, access, -EINVAL);
}

/* Domains that do not fit the lists, rights to words, and regions of the other kind */
static void refuse(struct kv *t)
{
	struct kv_region *plain;
	struct kv_mem *mem;
	struct ib_reg_wr wr;
	struct pi pi;

	if (!kv_has_integrity(t))
		return;

	make(t, &pi, BLOCK, NUM_BLOCKS, 0);
	set_domains(&pi, CRC, CRC);
	refused_reg(t, &pi, KV_ALL);
	pi.attrs.wire.sig.dif.pi_interval = 1024;
	refused_reg(t, &pi, KV_READ);
	set_domains(&pi, CRC, CRC);
	pi.attrs.mem.sig.dif.pi_interval = 256;
	pi.attrs.wire.sig.dif.pi_interval = 256;
	refused_reg(t, &pi, KV_READ);
	set_domains(&pi, NONE, CRC);
	pi.attrs.wire.sig.dif.pi_interval = 768;
	refused_reg(t, &pi, KV_READ);
	if (!kv_goes_on(t))
		return;

	wr = kv_reg_wr(t, pi.region, KV_READ);
	kv_want(t, "REG_MR of a region with protection information",
		kv_do(t, &pi.link->own, "REG_MR", &wr.wr), -EINVAL);
	plain = kv_region(t, pi.link->own.pd, KV_PAGES);
	mem = kv_mem(t, pi.link->own.dev, 0, PAGE_SIZE);
	kv_map(t, plain, mem, mem->nents);
	wr = kv_reg_wr(t, plain, KV_READ);
	wr.wr.opcode = IB_WR_REG_MR_INTEGRITY;
	kv_want(t, "REG_MR_INTEGRITY of a region without",
		kv_do(t, &pi.link->own, "REG_MR", &wr.wr), -EINVAL);
	enroll(t, &pi, CRC, CRC);
	writes(t, &pi, pi.wire_len);
}

const struct kv_case kv_integrity_cases[] = {
	{ "integrity: all pairs of domains, blocks of 512",	pairs_512 },
	{ "integrity: all pairs of domains, blocks of 4096",	pairs_4096 },
	{ "integrity: blocks and tuples across pages",		pairs_anywhere },
	{ "integrity: lists with gaps",				gaps },
	{ "integrity: wrong tuples are reported once",		wrong },
	{ "integrity: wrong data are reported",			wrong_data },
	{ "integrity: source and sink of its own end",		local_use },
	{ "integrity: registered again and again",		cycles },
	{ "integrity: memory changes after it was read",	changes },
	{ "integrity: a registration has no old error",		new_status },
	{ "integrity: nothing outside is accessed",		bounds },
	{ "integrity: what cannot be registered",		refuse },
	{}
};
