// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - protection information between memory and wire, for all pairs of domains
 *
 * What the wire and the memory must have is built here, block by block, from the whole data.
 * The vectors of the guards are those of the kernel's test manager (crct10dif) and the example
 * of RFC 1071.  Data and tuples lie in pieces of their exact size, so that the address sanitizer
 * detects any access beyond them.
 */
#include <linux/kernel.h>
#include <stdlib.h>

#include "mem/internal.h"
#include "rand.h"
#include "tap.h"

#define MAX_DATA	(3 * 4096)
#define TUPLE		8
#define MAX_WIRE	(MAX_DATA + MAX_DATA / 32 * TUPLE)
#define MAX_PIECES	MAX_DATA
#define BLOCKS		3
#define KEY		0x1234

/* Fast registration is tested in test_key.c. */
static struct srnic_mr mr;
static u8 *pieces[2 * MAX_PIECES];
static u32 sizes[2 * MAX_PIECES];
static u32 num_data, num_pieces;

static u8 data[MAX_DATA], tuples[MAX_DATA], wire[MAX_WIRE], got[MAX_WIRE];
static u32 data_len, tuples_len, wire_len;

/* --- what is expected ---------------------------------------------------- */

/* By the definition of RFC 1071: words in network byte order, the last one padded */
static u16 inet_sum(const u8 *at, u32 len)
{
	u32 sum = 0, i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? at[i] : at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);

	return ~sum;
}

/* By polynomial division of the whole message, as a string of bits */
static u16 crc_of(const u8 *at, u32 len)
{
	u32 rest = 0, i;

	for (i = 0; i < len * 8 + 16; i++) {
		rest = rest << 1 | (i < len * 8 ? at[i / 8] >> (7 - i % 8) & 1 : 0);
		if (rest & 0x10000)
			rest ^= 0x18bb7;
	}

	return rest;
}

static u16 guard_of(const struct ib_sig_domain *domain, u32 block)
{
	u32 len = domain->sig.dif.pi_interval;

	return domain->sig.dif.bg_type == IB_T10DIF_CRC ? crc_of(data + block * len, len) :
							   inet_sum(data + block * len, len);
}

static void put_tuple(u8 *at, u16 guard, u16 app, u32 ref)
{
	const u8 bytes[TUPLE] = {
		guard >> 8, guard, app >> 8, app, ref >> 24, ref >> 16, ref >> 8, ref
	};

	memcpy(at, bytes, TUPLE);
}

static bool has_tuples(const struct ib_sig_domain *domain)
{
	return domain->sig_type == IB_SIG_TYPE_T10_DIF;
}

/* The correct tuple of @block in @domain */
static void tuple_of(u8 *at, const struct ib_sig_domain *domain, u32 block)
{
	const struct ib_t10_dif_domain *dif = &domain->sig.dif;

	put_tuple(at, guard_of(domain, block), dif->app_tag,
		  dif->ref_tag + (dif->ref_remap ? block : 0));
}

/* Data at random, and the correct contents of memory and wire */
static void expect(const struct ib_sig_attrs *attrs, u32 interval, u32 blocks)
{
	u32 i;

	data_len = interval * blocks;
	tuples_len = 0;
	wire_len = 0;
	for (i = 0; i < data_len; i++)
		data[i] = rand32();
	for (i = 0; i < blocks; i++) {
		memcpy(wire + wire_len, data + i * interval, interval);
		wire_len += interval;
		if (has_tuples(&attrs->wire)) {
			tuple_of(wire + wire_len, &attrs->wire, i);
			wire_len += TUPLE;
		}
		if (has_tuples(&attrs->mem)) {
			tuple_of(tuples + tuples_len, &attrs->mem, i);
			tuples_len += TUPLE;
		}
	}
}

/* --- the region ---------------------------------------------------------- */

/* Adds @len bytes in pieces of up to @most. */
static void add_list(int (*add)(struct srnic_mr *mr, u64 addr, u32 len), u32 len, u32 most)
{
	u32 n;

	for (; len; len -= n) {
		n = min(len, most ? most : 1 + rand32() % 300);
		pieces[num_pieces] = malloc(n);
		sizes[num_pieces] = n;
		if (add(&mr, (uintptr_t)pieces[num_pieces], n))
			tap_fault("the list has no room");
		num_pieces++;
	}
}

/* Registers a region of pieces of up to @most bytes, 0: of all sizes; false: refused */
static bool set_up(const struct ib_sig_attrs *attrs, u32 most)
{
	u64 length;

	mr = (struct srnic_mr) { .key = KEY };
	num_pieces = 0;
	srnic_pi_alloc(&mr, MAX_PIECES, MAX_PIECES);
	srnic_pi_begin(&mr);
	add_list(srnic_pi_add_data, data_len, most);
	num_data = num_pieces;
	add_list(srnic_pi_add_tuples, tuples_len, most);
	length = srnic_pi_prepare(&mr, attrs);
	mr.span.length = length;

	return length == wire_len && srnic_pi_take(&mr, length);
}

static void tear_down(void)
{
	srnic_pi_free(&mr);
	while (num_pieces)
		free(pieces[--num_pieces]);
}

/* Copies the contents of pieces @from up to @to to or from @at. */
static void memory_copy(u8 *at, u32 from, u32 to, bool in)
{
	for (; from < to; at += sizes[from++])
		memcpy(in ? pieces[from] : at, in ? at : pieces[from], sizes[from]);
}

static void memory_set(void)
{
	memory_copy(data, 0, num_data, true);
	memory_copy(tuples, num_data, num_pieces, true);
}

static void memory_clear(void)
{
	u32 i;

	for (i = 0; i < num_pieces; i++)
		memset(pieces[i], 0xa5, sizes[i]);
}

static bool memory_is_right(void)
{
	memory_copy(got, 0, num_data, false);
	if (memcmp(got, data, data_len))
		return false;
	memory_copy(got, num_data, num_pieces, false);

	return !memcmp(got, tuples, tuples_len);
}

static bool is_clean(void)
{
	struct ib_sig_err err;

	return !srnic_pi_take_error(&mr, &err);
}

/* Accesses all of the wire in accesses of up to @size bytes, the first of @first bytes. */
static void walk(bool write, u32 first, u32 size)
{
	u32 pos, n = min(first, wire_len);

	for (pos = 0; pos < wire_len; pos += n, n = min(size, wire_len - pos)) {
		u8 *buf;

		if (!n)
			continue;
		buf = malloc(n);
		memcpy(buf, wire + pos, n);
		if (write)
			srnic_pi_write(&mr, pos, buf, n);
		else
			srnic_pi_read(&mr, pos, buf, n, true);
		memcpy(got + pos, buf, n);
		free(buf);
	}
}

static void check_walk(const char *name, u32 first, u32 size)
{
	memory_set();
	walk(false, first, size);
	if (memcmp(got, wire, wire_len) || !is_clean())
		tap_fault("%s: READ, %u bytes, then %u", name, first, size);
	memory_clear();
	walk(true, first, size);
	if (!memory_is_right() || !is_clean())
		tap_fault("%s: WRITE, %u bytes, then %u", name, first, size);
}

/* --- domains ------------------------------------------------------------- */

enum { NONE, CRC, CSUM, NUM_DOMAINS };

static const char * const names[] = { "none", "CRC", "checksum" };

static struct ib_sig_domain domain(int kind, u32 interval)
{
	if (kind == NONE)
		return (struct ib_sig_domain) {};

	return (struct ib_sig_domain) {
		.sig_type	= IB_SIG_TYPE_T10_DIF,
		.sig.dif	= {
			.bg_type		= kind == CRC ? IB_T10DIF_CRC : IB_T10DIF_CSUM,
			.pi_interval		= interval,
			.app_tag		= 0xbeef,
			.ref_tag		= 0xfffffffe,	/* wraps */
			.ref_remap		= true,
			.apptag_check_mask	= 0xffff,
		},
	};
}

static struct ib_sig_attrs attrs_of(int mem, int on_wire, u32 interval)
{
	return (struct ib_sig_attrs) {
		.check_mask	= 0xff,
		.mem		= domain(mem, interval),
		.wire		= domain(on_wire, interval),
	};
}

/* Accesses of two parts, split at every byte, and of the sizes of packets */
static void check_pair(int mem, int on_wire, u32 interval, u32 blocks, u32 most)
{
	static const u32 mtus[] = { 1, 7, 8, 256, 512, 520, 528, 1024, 2048, 4096 };
	struct ib_sig_attrs attrs = attrs_of(mem, on_wire, interval);
	char name[64];
	u32 i;

	snprintf(name, sizeof(name), "%s, %s, %u", names[mem], names[on_wire], interval);
	expect(&attrs, interval, blocks);
	if (!set_up(&attrs, most)) {
		tap_fault("%s: refused", name);
	} else {
		for (i = 0; i <= wire_len; i++)
			check_walk(name, i, wire_len);
		for (i = 0; i < ARRAY_SIZE(mtus); i++)
			check_walk(name, mtus[i], mtus[i]);
	}
	tear_down();
}

static void test_pairs(void)
{
	int mem, on_wire;

	for (mem = 0; mem < NUM_DOMAINS; mem++) {
		for (on_wire = 0; on_wire < NUM_DOMAINS; on_wire++) {
			check_pair(mem, on_wire, 512, BLOCKS, 0);
			check_pair(mem, on_wire, 520, 2, 4096);
		}
	}
	tap_done("all pairs of domains, split at every byte, blocks of 512 and 520");

	for (mem = 0; mem < NUM_DOMAINS; mem++)
		for (on_wire = 0; on_wire < NUM_DOMAINS; on_wire++)
			check_pair(mem, on_wire, 64, 2, 1);
	tap_done("all pairs of domains, every byte in a piece of its own");

	check_pair(CRC, CRC, 4096, 1, 0);
	check_pair(NONE, CRC, 4096, 1, 0);
	check_pair(CRC, NONE, 4096, 1, 4096);
	tap_done("blocks of 4096");
}

static void test_constant(void)
{
	struct ib_sig_attrs attrs = attrs_of(NONE, CRC, 512);

	attrs.wire.sig.dif.ref_remap = false;
	expect(&attrs, 512, BLOCKS);
	set_up(&attrs, 0);
	check_walk("constant", wire_len, wire_len);
	tear_down();
	tap_done("all blocks have the same reference tag");
}

/* A transfer is repeated, from any byte of it on. */
static void test_again(void)
{
	struct ib_sig_attrs attrs = attrs_of(CRC, CRC, 512);
	u32 from;

	expect(&attrs, 512, BLOCKS);
	set_up(&attrs, 0);
	memory_set();
	for (from = 0; from < wire_len; from += 5) {
		srnic_pi_read(&mr, from, got, wire_len - from, true);
		if (memcmp(got, wire + from, wire_len - from) || !is_clean())
			tap_fault("READ from byte %u on", from);
	}
	walk(true, wire_len, 1);
	for (from = 0; from < wire_len; from += 512 + TUPLE) {
		srnic_pi_write(&mr, from, wire + from, wire_len - from);
		if (!memory_is_right() || !is_clean())
			tap_fault("WRITE from byte %u on", from);
	}
	tear_down();
	tap_done("a transfer is repeated");
}

/* What the consumer has made of the data when they are read again is no error. */
static void test_changed(void)
{
	struct ib_sig_attrs attrs = attrs_of(CRC, CRC, 512);

	expect(&attrs, 512, BLOCKS);
	set_up(&attrs, 0);
	memory_set();
	pieces[0][0] ^= 1;
	srnic_pi_read(&mr, 0, got, wire_len, false);
	got[0] ^= 1;
	tap_check(!memcmp(got, wire, wire_len) && is_clean(), "what is read again is not checked");
	walk(false, wire_len, 1);
	tap_check(!is_clean(), "what is read for the first time is checked");
	tear_down();
}

/* --- vectors ------------------------------------------------------------- */

/* The wire has @text and its tuple; memory has no tuples. */
static void check_vector(int kind, const void *text, u32 len, u16 guard)
{
	struct ib_sig_attrs attrs = attrs_of(NONE, kind, len);
	u8 want[TUPLE];

	memcpy(data, text, len);
	data_len = len;
	tuples_len = 0;
	wire_len = len + TUPLE;
	put_tuple(want, guard, 0xbeef, 0xfffffffe);
	set_up(&attrs, 0);
	memory_set();
	srnic_pi_read(&mr, 0, got, wire_len, true);
	if (memcmp(got + len, want, TUPLE))
		tap_fault("%u bytes: %02x%02x, not %04x", len, got[len], got[len + 1], guard);
	tear_down();
}

static void test_vectors(void)
{
	static const u8 rfc1071[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };
	char text[400];
	u32 i;

	check_vector(CRC, "abc", 3, 0x443b);
	memset(text, 'd', sizeof(text));
	memcpy(text, "abc", 3);
	check_vector(CRC, text, 56, 0x9ce3);
	for (i = 0; i < sizeof(text); i++)
		text[i] = '0' + (i + 1) % 10;
	check_vector(CRC, text, 79, 0x4b70);
	check_vector(CRC, text, 319, 0x44c6);
	tap_done("vectors of the CRC");

	check_vector(CSUM, rfc1071, sizeof(rfc1071), 0x220d);
	tap_done("vector of the checksum");
}

/* --- errors -------------------------------------------------------------- */

/* Is this the error that the consumer finds, and the only one? */
static bool finds(enum ib_sig_err_type type, u32 expected, u32 actual, u64 offset)
{
	struct ib_sig_err err;

	return srnic_pi_take_error(&mr, &err) && err.err_type == type &&
	       err.expected == expected && err.actual == actual &&
	       err.sig_err_offset == offset && err.key == KEY && is_clean();
}

/* The tuple of the second block is @guard, @app and @ref where it is checked. */
static void transfer(bool write, u16 guard, u16 app, u32 ref)
{
	if (write) {
		put_tuple(wire + 2 * 512 + TUPLE, guard, app, ref);
		walk(true, wire_len, 1);
	} else {
		put_tuple(tuples + TUPLE, guard, app, ref);
		memory_set();
		walk(false, wire_len, 1);
	}
}

static void check_errors(int mem, int on_wire, bool write)
{
	struct ib_sig_attrs attrs = attrs_of(mem, on_wire, 512);
	const char *what = write ? "WRITE" : "READ";
	u16 guard;
	u32 ref = 0xffffffff;

	expect(&attrs, 512, BLOCKS);
	guard = guard_of(write ? &attrs.wire : &attrs.mem, 1);
	set_up(&attrs, 0);
	memory_set();
	transfer(write, guard ^ 1, 0xbeef, ref);
	if (!finds(IB_SIG_BAD_GUARD, guard, guard ^ 1, 520))
		tap_fault("%s: guard", what);
	transfer(write, guard, 0xbeee, ref);
	if (!finds(IB_SIG_BAD_APPTAG, 0xbeef, 0xbeee, 520))
		tap_fault("%s: application tag", what);
	transfer(write, guard, 0xbeef, 7);
	if (!finds(IB_SIG_BAD_REFTAG, ref, 7, 520))
		tap_fault("%s: reference tag", what);
	transfer(write, guard ^ 1, 0xbeee, 7);
	if (!finds(IB_SIG_BAD_GUARD, guard, guard ^ 1, 520))
		tap_fault("%s: all of them", what);
	transfer(write, guard, 0xbeef, ref);
	if (!is_clean())
		tap_fault("%s: none", what);
	tear_down();
}

static void test_errors(void)
{
	check_errors(CRC, CRC, true);
	check_errors(CRC, CSUM, true);
	check_errors(NONE, CRC, true);
	check_errors(NONE, CSUM, true);
	tap_done("errors in tuples of the wire");
	check_errors(CRC, CRC, false);
	check_errors(CSUM, CRC, false);
	check_errors(CRC, NONE, false);
	check_errors(CSUM, NONE, false);
	tap_done("errors in tuples of memory");
}

/* Each bit of data is protected. */
static void test_bits(void)
{
	struct ib_sig_attrs attrs = attrs_of(NONE, CRC, 512);
	struct ib_sig_err err;
	u32 bit;

	expect(&attrs, 512, 2);
	set_up(&attrs, 0);
	for (bit = 0; bit < wire_len * 8; bit++) {
		wire[bit / 8] ^= 1 << bit % 8;
		walk(true, wire_len, 1);
		if (!srnic_pi_take_error(&mr, &err) ||
		    err.sig_err_offset != bit / 8 / 520 * 520)
			tap_fault("bit %u", bit);
		wire[bit / 8] ^= 1 << bit % 8;
	}
	tear_down();
	tap_done("no flipped bit remains undetected");
}

static void test_first(void)
{
	struct ib_sig_attrs attrs = attrs_of(NONE, CRC, 512);
	struct ib_sig_err err;

	expect(&attrs, 512, BLOCKS);
	set_up(&attrs, 0);
	wire[2 * 520] ^= 1;
	wire[520] ^= 1;
	walk(true, wire_len, 1);
	tap_check(srnic_pi_take_error(&mr, &err) && err.sig_err_offset == 520 && is_clean(),
		  "the first error is kept, and told once");
	walk(true, wire_len, 1);
	srnic_pi_prepare(&mr, &attrs);
	srnic_pi_take(&mr, wire_len);
	tap_check(is_clean(), "a registration ends the error of the one before");
	tear_down();
}

/* Is a tuple of @app and @ref with the wrong guard an error with these attributes? */
static bool is_error(struct ib_sig_attrs *attrs, u16 app, u32 ref)
{
	bool error;

	expect(attrs, 512, BLOCKS);
	set_up(attrs, 0);
	transfer(true, guard_of(&attrs->wire, 1) ^ 0x8000, app, ref);
	error = !is_clean();
	tear_down();

	return error;
}

static void test_masks(void)
{
	struct ib_sig_attrs attrs = attrs_of(NONE, CRC, 512);
	struct ib_t10_dif_domain *dif = &attrs.wire.sig.dif;

	attrs.check_mask = 0;
	tap_check(!is_error(&attrs, 1, 2), "without a check mask nothing is an error");
	attrs.check_mask = IB_SIG_CHECK_REFTAG;
	tap_check(is_error(&attrs, 1, 2) && !is_error(&attrs, 1, 0xffffffff),
		  "the reference tag alone is checked");
	attrs.check_mask = IB_SIG_CHECK_APPTAG;
	tap_check(is_error(&attrs, 1, 2) && !is_error(&attrs, 0xbeef, 2),
		  "the application tag alone is checked");
	dif->apptag_check_mask = 0x00f0;
	tap_check(is_error(&attrs, 0xbe0f, 2) && !is_error(&attrs, 0x00e0, 2),
		  "bits of the application tag are checked");
	attrs.check_mask = 0x40;
	tap_check(!is_error(&attrs, 1, 2), "the other byte of the guard is checked");
	attrs.check_mask = 0x80;
	tap_check(is_error(&attrs, 1, 2), "a byte of the guard is checked");

	attrs.check_mask = 0xff;
	tap_check(is_error(&attrs, 0xffff, 2), "without escape all blocks are checked");
	dif->app_escape = true;
	tap_check(!is_error(&attrs, 0xffff, 2) && is_error(&attrs, 0xfffe, 2),
		  "an application tag of all ones is an escape");
	dif->ref_escape = true;
	tap_check(is_error(&attrs, 0xffff, 2) && !is_error(&attrs, 0xffff, 0xffffffff),
		  "both tags together are an escape");
}

/* Fields with different values in the two domains are replaced, the others are copied. */
static void test_replace(void)
{
	struct ib_sig_attrs attrs = attrs_of(CRC, CRC, 512);
	u8 want[TUPLE];

	attrs.check_mask = 0;
	attrs.mem.sig.dif.ref_tag = 100;
	attrs.mem.sig.dif.app_tag = 0x1111;
	expect(&attrs, 512, BLOCKS);
	set_up(&attrs, 0);
	transfer(true, 0x4321, 0x2222, 0x33333333);
	put_tuple(want, 0x4321, 0x1111, 101);
	memory_copy(got, num_data, num_pieces, false);
	tap_check(!memcmp(got + TUPLE, want, TUPLE), "tags that differ are replaced");
	tear_down();
}

/* --- refused ------------------------------------------------------------- */

static u64 length_of(const struct ib_sig_attrs *attrs, u32 bytes, u32 meta)
{
	u64 length;

	data_len = bytes;
	tuples_len = meta;
	set_up(attrs, 0);
	length = srnic_pi_prepare(&mr, attrs);
	if (!length && srnic_pi_take(&mr, length))
		tap_fault("taken");
	tear_down();

	return length;
}

static void test_refused(void)
{
	struct ib_sig_attrs attrs = attrs_of(CRC, CRC, 512);

	tap_check(length_of(&attrs, 1024, 16) == 1040 && length_of(&attrs, 1024, 24) == 1040,
		  "the list of tuples may be longer");
	tap_check(!length_of(&attrs, 1024, 15), "the list of tuples is too short");
	tap_check(!length_of(&attrs, 1023, 16), "the data are no whole blocks");
	tap_check(!length_of(&attrs, 0, 16), "there is no data");
	attrs.wire.sig.dif.pi_interval = 256;
	tap_check(!length_of(&attrs, 1024, 16), "the blocks are not those of memory");
	attrs = attrs_of(NONE, CRC, 0);
	tap_check(!length_of(&attrs, 1024, 0), "blocks have no length");
	attrs = attrs_of(NONE, CRC, 8192);
	tap_check(!length_of(&attrs, 8192, 0), "blocks are too long");
	attrs = attrs_of(NONE, CRC, 512);
	attrs.wire.sig.dif.bg_type = 2;
	tap_check(!length_of(&attrs, 1024, 0), "the guard is unknown");
	attrs.wire.sig_type = 2;
	tap_check(!length_of(&attrs, 1024, 0), "the signature is unknown");
	attrs = attrs_of(NONE, NONE, 512);
	tap_check(length_of(&attrs, 1000, 0) == 1000, "no tuples at all");
	tap_done("refused layouts are not taken");
}

static void test_lists(void)
{
	struct ib_sig_attrs attrs = attrs_of(NONE, NONE, 512);
	u8 block[16] = {};

	mr = (struct srnic_mr) {};
	srnic_pi_alloc(&mr, 2, 0);
	srnic_pi_begin(&mr);
	tap_check(!srnic_pi_add_data(&mr, (uintptr_t)block, 4) &&
		  !srnic_pi_add_data(&mr, 0, 0) &&
		  !srnic_pi_add_data(&mr, (uintptr_t)block, 4) &&
		  srnic_pi_add_data(&mr, (uintptr_t)block, 4) == -ENOMEM &&
		  srnic_pi_add_tuples(&mr, (uintptr_t)block, 8) == -ENOMEM,
		  "a list takes as many pieces as were asked for; empty ones do not count");
	tap_check(srnic_pi_prepare(&mr, &attrs) == 8 && srnic_pi_take(&mr, 8) &&
		  srnic_pi_prepare(&mr, &attrs) == 8 && srnic_pi_take(&mr, 8),
		  "without new lists the last ones are registered again");
	tap_check(!srnic_pi_take(&mr, 9), "a registration of another length is refused");
	srnic_pi_free(&mr);
}

int main(void)
{
	test_vectors();
	test_pairs();
	test_constant();
	test_again();
	test_changed();
	test_errors();
	test_bits();
	test_first();
	test_masks();
	test_replace();
	test_refused();
	test_lists();

	return tap_end();
}
