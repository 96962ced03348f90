// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - drill: a packet, in script notation and as bytes
 *
 * A packet has an operation and fields.  Each field is a row of one table,
 * which is used to inject, to expect and to print packets.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "drill.h"

#define OP_ACK		0x11
#define SYN_ANY		0x100	/* an ACK with any credits */
#define SYN_RNR		0x120	/* an RNR NAK with any timer */
#define MAD_BYTES	256

/* Operations without the service; for acknowledgments, their syndrome */
static const struct {
	const char	*name;
	__u8		op;
	__u16		syn;
} ops[] = {
	{ "SEND_FIRST", 0x00 }, { "SEND_MIDDLE", 0x01 }, { "SEND_LAST", 0x02 },
	{ "SEND_LAST_IMM", 0x03 }, { "SEND_ONLY", 0x04 },
	{ "SEND_ONLY_IMM", 0x05 }, { "SEND_LAST_INV", 0x16 },
	{ "SEND_ONLY_INV", 0x17 },
	{ "WRITE_FIRST", 0x06 }, { "WRITE_MIDDLE", 0x07 },
	{ "WRITE_LAST", 0x08 }, { "WRITE_LAST_IMM", 0x09 },
	{ "WRITE_ONLY", 0x0a }, { "WRITE_ONLY_IMM", 0x0b },
	{ "READ_REQUEST", 0x0c },
	{ "READ_RESPONSE_FIRST", 0x0d, SYN_ANY },
	{ "READ_RESPONSE_MIDDLE", 0x0e },
	{ "READ_RESPONSE_LAST", 0x0f, SYN_ANY },
	{ "READ_RESPONSE_ONLY", 0x10, SYN_ANY },
	{ "ATOMIC_ACK", 0x12, SYN_ANY },
	{ "CMP_SWAP", 0x13 }, { "FETCH_ADD", 0x14 },
	{ "FLUSH", 0x1c }, { "ATOMIC_WRITE", 0x1d },
	{ "ACK", OP_ACK, SYN_ANY }, { "ACKS", OP_ACK, SYN_ANY },
	{ "RNR_NAK", OP_ACK, SYN_RNR },
	{ "NAK_SEQ", OP_ACK, 0x60 }, { "NAK_INV_REQ", OP_ACK, 0x61 },
	{ "NAK_REM_ACCESS", OP_ACK, 0x62 }, { "NAK_REM_OP", OP_ACK, 0x63 },
	{ "NAK_INV_RD_REQ", OP_ACK, 0x64 },
	{ "ACKNOWLEDGE", OP_ACK },
};

static const struct name transports[] = {
	{ "RC_", TP_RC }, { "UC_", TP_UC }, { "RD_", 0x40 }, { "UD_", TP_UD },
	{ "XRC_", TP_XRC },
};

/* Names of other opcodes */
static const struct name others[] = {
	{ "CNP", OPCODE_CNP }, { "SACK", OPCODE_SACK },
	{ "MASKED_CMP_SWAP", OPCODE_MASKED_CMP_SWAP },
	{ "MASKED_FETCH_ADD", OPCODE_MASKED_FETCH_ADD },
};

/* Headers of fields, in addition to the extended headers */
enum {
	H_BTH	= 1 << 16,
	H_MAD	= 1 << 17,	/* the payload of a management datagram */
	H_SACK	= 1 << 18,	/* that of a SACK */
};

/* Notation in which a value is printed */
enum kind { NUM, HEX, ADDRESS, KEY, SRQN };

static const struct field {
	const char	*name;
	unsigned int	part;
	int		bit;	/* offset from the start of the header */
	int		bits;
	enum kind	kind;
} fields[] = {
	{ "opcode", H_BTH, 0, 8, HEX },
	{ "psn", H_BTH, 72, 24, NUM },
	{ "ackreq", H_BTH, 64, 1, NUM },
	{ "se", H_BTH, 8, 1, NUM },
	{ "migreq", H_BTH, 9, 1, NUM },
	{ "pad", H_BTH, 10, 2, NUM },
	{ "tver", H_BTH, 12, 4, NUM },
	{ "pkey", H_BTH, 16, 16, HEX },
	{ "fecn", H_BTH, 32, 1, NUM },
	{ "becn", H_BTH, 33, 1, NUM },
	{ "resv6", H_BTH, 34, 6, HEX },
	{ "dqpn", H_BTH, 40, 24, HEX },
	{ "resv7", H_BTH, 65, 7, HEX },
	{ "srqn", H_XRCETH, 8, 24, SRQN },
	{ "qkey", H_DETH, 0, 32, HEX },
	{ "sqpn", H_DETH, 40, 24, HEX },
	{ "level", H_FETH, 26, 2, NUM },
	{ "type", H_FETH, 28, 4, NUM },
	{ "resv26", H_FETH, 0, 26, HEX },
	{ "va", H_RETH, 0, 64, ADDRESS },
	{ "rkey", H_RETH, 64, 32, KEY },
	{ "dmalen", H_RETH, 96, 32, NUM },
	{ "magic", H_MASKS, 0, 32, HEX },
	{ "version", H_MASKS, 32, 8, NUM },
	{ "resv24", H_MASKS, 40, 24, HEX },
	{ "mask", H_MASKS, 64, 64, HEX },
	{ "swap_mask", H_MASKS, 128, 64, HEX },
	{ "va", H_ATOMIC, 0, 64, ADDRESS },
	{ "rkey", H_ATOMIC, 64, 32, KEY },
	{ "swap", H_ATOMIC, 96, 64, HEX },
	{ "add", H_ATOMIC, 96, 64, HEX },
	{ "compare", H_ATOMIC, 160, 64, HEX },
	{ "syn", H_AETH, 0, 8, HEX },
	{ "timer", H_AETH, 3, 5, NUM },
	{ "credits", H_AETH, 3, 5, NUM },
	{ "msn", H_AETH, 8, 24, NUM },
	{ "orig", H_ATOMACK, 0, 64, HEX },
	{ "imm", H_IMM, 0, 32, HEX },
	{ "ikey", H_IETH, 0, 32, KEY },
	{ "class", H_MAD, 8, 8, HEX },
	{ "cver", H_MAD, 16, 8, NUM },
	{ "method", H_MAD, 24, 8, HEX },
	{ "status", H_MAD, 32, 16, HEX },
	{ "tid", H_MAD, 64, 64, HEX },
	{ "attr", H_MAD, 128, 16, HEX },
	{ "local_id", H_MAD, 192, 32, HEX },
	{ "remote_id", H_MAD, 224, 32, HEX },
	{ "port", H_MAD, 520, 8, NUM },
	{ "magic", H_SACK, 0, 32, HEX },
	{ "version", H_SACK, 32, 8, NUM },
	{ "resv_flags", H_SACK, 40, 7, HEX },
	{ "reply", H_SACK, 47, 1, NUM },
	{ "count", H_SACK, 48, 8, NUM },
	{ "pace", H_SACK, 56, 8, NUM },
	{ "last", H_SACK, 64, 32, NUM },
};

/* ---- fields ---- */

static __u64 bits_get(const __u8 *p, int bit, int bits)
{
	__u64 v = 0;

	for (; bits; bits--, bit++)
		v = v << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
	return v;
}

static void bits_put(__u8 *p, int bit, int bits, __u64 v)
{
	while (bits--) {
		__u8 mask = 1 << (7 - (bit + bits) % 8);
		__u8 *at = p + (bit + bits) / 8;

		*at = v & 1 ? *at | mask : *at & ~mask;
		v >>= 1;
	}
}

/* Offset of the header that contains the field, -1 if the packet has none */
static int field_offset(const struct packet *p, const struct field *f)
{
	__u8 opcode = p->t[BTH_OPCODE];

	if (f->part == H_BTH)
		return 0;
	if (f->part == H_MAD)
		return p->payload == MAD_BYTES ? opcode_bytes(opcode) : -1;
	if (f->part == H_SACK)
		return opcode == OPCODE_SACK && p->payload >= SACK_HEAD ? BTH_BYTES : -1;
	return opcode_offset(opcode, f->part);
}

static bool field_is_in(const struct packet *p, const struct field *f)
{
	return field_offset(p, f) >= 0;
}

static __u64 field_get(const struct packet *p, const struct field *f)
{
	return bits_get(p->t + field_offset(p, f), f->bit, f->bits);
}

static void field_put(struct packet *p, const struct field *f, __u64 v)
{
	bits_put(p->t + field_offset(p, f), f->bit, f->bits, v);
}

/* The row of @name if @p has that field, else NULL */
static const struct field *field_find(const struct packet *p, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(fields[i].name, name) && field_is_in(p, &fields[i]))
			return &fields[i];
	return NULL;
}

static void set(struct packet *p, const char *name, __u64 v)
{
	const struct field *f = field_find(p, name);

	if (f)
		field_put(p, f, v);
}

static __u64 get(const struct packet *p, const char *name)
{
	const struct field *f = field_find(p, name);

	return f ? field_get(p, f) : 0;
}

/* Value of the field in a line: 1 for a name without a value, 0 if preceded by "!". */
static bool field_said(struct line *l, const struct field *f, __u64 *v)
{
	const char *text = line_get(l, f->name);
	char not[32];

	snprintf(not, sizeof(not), "!%s", f->name);
	if (line_has(l, not)) {
		*v = 0;
		return true;
	}
	if (!text)
		return false;
	if (f->kind == ADDRESS)
		*v = address_of(text);
	else if (f->kind == KEY)
		*v = key_of(text);
	else if (f->kind == SRQN)
		*v = srqn_of(text);
	else if (!*text)
		*v = 1;
	else if (!num_parse(text, v))
		fail("%s=%s is not a number", f->name, text);
	return true;
}

/* ---- operations ---- */

/* Opcode and syndrome of a name, with its service or that of the queue pair */
static __u8 op_parse(const char *name, unsigned int *syn)
{
	__u8 transport = qp ? qp->transport : TP_RC;
	__u64 num;
	size_t i;

	*syn = 0;
	if (!name)
		fail("no operation");
	if (num_parse(name, &num))
		return num;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].name))
			return others[i].value;
	for (i = 0; i < ARRAY_SIZE(transports); i++) {
		size_t len = strlen(transports[i].name);

		if (strncmp(name, transports[i].name, len))
			continue;
		transport = transports[i].value;
		name += len;
		break;
	}
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (strcmp(name, ops[i].name))
			continue;
		*syn = ops[i].syn;
		return transport | ops[i].op;
	}
	fail("unknown operation '%s'", name);
}

static bool syn_is(unsigned int want, __u8 syn)
{
	return want >= SYN_ANY ? (syn & 0xe0) == (want & 0xe0) : syn == want;
}

static const char *op_name(const struct packet *p)
{
	static char text[32];
	__u8 opcode = p->t[BTH_OPCODE];
	const char *transport = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (opcode == others[i].value)
			return others[i].name;
	if (!qp || (opcode & 0xe0) != qp->transport)
		transport = name_of(transports, ARRAY_SIZE(transports),
				    opcode & 0xe0);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (ops[i].op != (opcode & 0x1f) || !strcmp(ops[i].name, "ACKS") ||
		    (ops[i].syn && ops[i].op == OP_ACK &&
		     !syn_is(ops[i].syn, get(p, "syn"))))
			continue;
		snprintf(text, sizeof(text), "%s%s", transport, ops[i].name);
		return text;
	}
	snprintf(text, sizeof(text), "0x%02x", opcode);
	return text;
}

/* ---- payload ---- */

__u8 stream_byte(char stream, size_t i)
{
	__u32 x = (__u8)stream * 2654435761U + (__u32)(i >> 2) * 2246822519U;

	x ^= x >> 15;
	x *= 2654435761U;
	return x >> (8 * (i & 3));
}

/*
 * Bytes named by "data=": STREAM+OFFSET with a lower case letter, REGION+OFFSET
 * for the current contents of memory, or "zero"
 */
static void data_fill(const char *text, __u8 *to, int len)
{
	const char *plus = strchr(text, '+');
	__u64 off = 0;
	int i;

	if (!strcmp(text, "zero")) {
		memset(to, 0, len);
	} else if (plus == text + 1 || (text[0] && !text[1])) {
		if (plus && !num_parse(plus + 1, &off))
			fail("data=%s", text);
		for (i = 0; i < len; i++)
			to[i] = stream_byte(text[0], off + i);
	} else {
		memcpy(to, region_at(text, len), len);
	}
}

/* ---- the ranges of a SACK: FIRST+NUMBER,FIRST+NUMBER... ---- */

static int ranges_count(const char *text)
{
	int num = text && *text;

	for (; text && *text; text++)
		num += *text == ',';
	return num;
}

static void ranges_fill(struct packet *p, const char *text)
{
	__u8 *at = p->t + BTH_BYTES + SACK_HEAD;
	const char *all = text;
	__u32 first, num;
	int used;

	for (; text && *text; text += used + (text[used] == ','), at += SACK_RANGE) {
		if (sscanf(text, "%u+%u%n", &first, &num, &used) != 2 ||
		    (text[used] && text[used] != ','))
			fail("ranges=%s", all);
		put_be32(at, first);
		put_be32(at + 4, num);
	}
}

static const char *ranges_show(const struct packet *p)
{
	static char text[256];
	int at = 0, off;

	text[0] = 0;
	for (off = SACK_HEAD; off + SACK_RANGE <= p->payload && at < 200; off += SACK_RANGE)
		at += sprintf(text + at, "%s%u+%u", at ? "," : "",
			      get_be32(p->t + BTH_BYTES + off),
			      get_be32(p->t + BTH_BYTES + off + 4));
	return text;
}

/* The last PSN of the ranges, or else that before the PSN of the packet */
static __u32 ranges_last(const struct packet *p, int num)
{
	const __u8 *at = p->t + BTH_BYTES + SACK_HEAD + (num - 1) * SACK_RANGE;
	__u32 next = num ? get_be32(at) + get_be32(at + 4) : get_be24(p->t + BTH_PSN);

	return (next - 1) & PSN_MASK;
}

/* ---- building ---- */

static void ip_make(struct packet *p, struct line *l)
{
	const char *src = line_get(l, "src"), *dst = line_get(l, "dst");
	int af;

	p->ip = qp ? qp->ip : 4;
	af = p->ip == 4 ? AF_INET : AF_INET6;
	peer_address(p->ip, p->src);
	device_address(p->ip, p->dst);
	if (src && inet_pton(af, src, p->src) != 1)
		fail("src=%s is not an address", src);
	if (dst && inet_pton(af, dst, p->dst) != 1)
		fail("dst=%s is not an address", dst);
	p->tos = line_num(l, "dscp", 0) << 2 | line_num(l, "ecn", 0);
	p->ttl = line_num(l, "ttl", 64);
	p->df = line_num(l, "df", 1);
	p->sport = line_num(l, "sport", 0xc000);
	p->dport = line_num(l, "dport", ROCE_PORT);
}

/* Default values of an injected packet */
static void defaults_make(struct packet *p, unsigned int syn)
{
	const struct region *mr = region_find("mr");

	set(p, "migreq", p->t[BTH_OPCODE] != OPCODE_CNP);
	set(p, "becn", p->t[BTH_OPCODE] == OPCODE_CNP);
	set(p, "pkey", 0xffff);
	set(p, "dqpn", qp ? qp->qpn : 0);
	set(p, "syn", syn >= SYN_ANY ? syn & 0xff : syn);
	if (syn == SYN_ANY)
		set(p, "credits", 31);
	set(p, "qkey", qp ? qp->qkey : 0);
	set(p, "sqpn", qp ? qp->peer : 0);
	set(p, "srqn", qp ? qp->srqn : 0);
	if (mr) {
		set(p, "va", (uintptr_t)mr->p);
		set(p, "rkey", mr->rkey);
	}
	set(p, "dmalen", p->payload);
	if (p->t[BTH_OPCODE] == OPCODE_MASKED_CMP_SWAP) {
		set(p, "mask", ~0ULL);
		set(p, "swap_mask", ~0ULL);
	}
	set(p, "magic", p->t[BTH_OPCODE] == OPCODE_SACK ? SACK_MAGIC : MASKS_MAGIC);
	set(p, "version", p->t[BTH_OPCODE] == OPCODE_SACK ? SACK_VERSION : MASKS_VERSION);
}

/* Bytes of payload, unless the line says otherwise */
static int payload_default(__u8 opcode, const char *ranges, bool mad)
{
	if (mad)
		return MAD_BYTES;
	if (opcode == OPCODE_SACK)
		return SACK_HEAD + SACK_RANGE * ranges_count(ranges);
	return opcode == OPCODE_CNP ? 16 : 0;
}

static void payload_make(struct packet *p, const char *data, const char *ranges)
{
	__u8 opcode = p->t[BTH_OPCODE];

	if (opcode == OPCODE_SACK && !data) {
		if (p->payload >= SACK_HEAD + SACK_RANGE * ranges_count(ranges))
			ranges_fill(p, ranges);
		set(p, "count", ranges_count(ranges));
	} else if (opcode != OPCODE_CNP) {
		data_fill(data ? data : "a", p->t + p->len, p->payload);
	}
}

void packet_make(struct packet *p, struct line *l)
{
	const char *data = line_get(l, "data"), *ranges = line_get(l, "ranges");
	bool mad = line_has(l, "mad");
	unsigned int syn;
	int pad, whole;
	__u8 opcode;
	size_t i;
	__u64 v;

	memset(p, 0, sizeof(*p));
	opcode = op_parse(line_word(l, 1), &syn);
	p->t[BTH_OPCODE] = opcode;
	p->len = opcode_parts(opcode) ? opcode_bytes(opcode) : BTH_BYTES;
	p->payload = line_num(l, "len", payload_default(opcode, ranges, mad));
	if (p->payload > MAX_PAYLOAD)
		fail("len=%d is too long", p->payload);
	if (!mad)
		payload_make(p, data, ranges);
	pad = -p->payload & 3;
	defaults_make(p, syn);
	set(p, "pad", pad);
	if (mad)
		p->t[p->len] = 1;	/* version of the MAD header */
	p->len += p->payload + pad;
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (field_is_in(p, &fields[i]) &&
		    field_said(l, &fields[i], &v))
			field_put(p, &fields[i], v);
	if (opcode == OPCODE_SACK && !data && !line_has(l, "last"))
		set(p, "last", ranges_last(p, ranges_count(ranges)));
	whole = p->len;
	p->len += line_num(l, "extra", 0) - line_num(l, "cut", 0);
	p->malformed = p->len != whole || !opcode_parts(opcode) ||
		       get(p, "tver") || line_num(l, "dport", ROCE_PORT) != ROCE_PORT;
	p->bad_icrc = line_has(l, "bad_icrc");
	ip_make(p, l);
}

/* ---- printing ---- */

/* Default values of fields, which are not printed */
static bool field_is_dull(const struct packet *p, const struct field *f)
{
	__u64 v = field_get(p, f);

	if (!strcmp(f->name, "pkey"))
		return v == 0xffff;
	if (!strcmp(f->name, "migreq"))
		return v;
	if (!strcmp(f->name, "opcode") || !strcmp(f->name, "pad") ||
	    !strcmp(f->name, "dqpn") || !strcmp(f->name, "add") ||
	    !strcmp(f->name, "credits"))
		return true;
	if (!strcmp(f->name, "timer"))
		return (get(p, "syn") & 0xe0) != 0x20;
	return f->part == H_BTH && f->bits < 8 && !v;
}

const char *packet_show(const struct packet *p)
{
	static char text[1024];
	int at = snprintf(text, sizeof(text), "%s", op_name(p));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields) && at < 900; i++) {
		const struct field *f = &fields[i];

		if (!field_is_in(p, f) || field_is_dull(p, f))
			continue;
		at += sprintf(text + at, f->kind == NUM ? " %s=%llu" :
			      " %s=0x%llx", f->name,
			      (unsigned long long)field_get(p, f));
	}
	if (p->t[BTH_OPCODE] == OPCODE_SACK)
		at += sprintf(text + at, " ranges=%s", ranges_show(p));
	at += sprintf(text + at, " len=%d", p->payload);
	if (p->bad_icrc)
		at += sprintf(text + at, " bad_icrc");
	if (p->tos & 3)
		sprintf(text + at, " ecn=%d", p->tos & 3);
	return text;
}

void packet_list(const struct packet *p, FILE *out)
{
	size_t i;

	fprintf(out, "icrc=%s malformed=%d len=%d", p->bad_icrc ? "bad" : "good",
		p->malformed, p->payload);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (field_is_in(p, &fields[i]))
			fprintf(out, " %s=%llu", fields[i].name,
				(unsigned long long)field_get(p, &fields[i]));
	fprintf(out, "\n");
}

/* ---- comparing ---- */

noreturn static void differs(const struct packet *p, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	fail("%s, in: %s", why, packet_show(p));
}

static void expect(const struct packet *p, const char *name, __u64 want)
{
	const struct field *f = field_find(p, name);
	__u64 v;

	if (!f)
		return;
	v = field_get(p, f);
	if (v != want && !strcmp(name, "psn"))	/* another packet */
		fail_timed("psn is not %llu: %s", (unsigned long long)want,
			   packet_show(p));
	if (v != want)
		differs(p, "%s is %llu (0x%llx), not %llu (0x%llx)", name,
			(unsigned long long)v, (unsigned long long)v,
			(unsigned long long)want, (unsigned long long)want);
}

/* "NAME>=N" */
static void expect_least(const struct packet *p, struct line *l, const struct field *f)
{
	__u64 v = field_get(p, f), least;
	char key[32];

	snprintf(key, sizeof(key), "%s>", f->name);
	least = line_num(l, key, 0);
	if (v < least)
		differs(p, "%s is %llu, less than %llu", f->name, (unsigned long long)v,
			(unsigned long long)least);
}

/* Defaults that apply to each expected packet */
static void expect_defaults(const struct packet *p, struct line *l)
{
	static const char *const zero[] = {
		"tver", "fecn", "resv6", "resv7", "resv26", "resv_flags",
	};
	bool cnp = p->t[BTH_OPCODE] == OPCODE_CNP;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(zero); i++)
		expect(p, zero[i], 0);
	if (!line_has(l, "becn"))
		expect(p, "becn", cnp);
	if (!line_has(l, "pkey"))
		expect(p, "pkey", 0xffff);
	if (!line_has(l, "dqpn") && qp)
		expect(p, "dqpn", qp->peer);
	expect(p, "magic", SACK_MAGIC);
	expect(p, "version", SACK_VERSION);
	expect(p, "pad", -p->payload & 3);
	for (i = p->len - 4 - (-p->payload & 3); i < (size_t)p->len - 4; i++)
		if (p->t[i])
			differs(p, "the pad is not zero");
}

static void expect_ip(const struct packet *p, struct line *l)
{
	__u8 src[16] = {}, dst[16] = {};
	__u64 v;

	device_address(p->ip, src);
	peer_address(p->ip, dst);
	if (qp && p->ip != qp->ip)
		differs(p, "IPv%d", p->ip);
	if (memcmp(p->src, src, sizeof(src)) || memcmp(p->dst, dst, sizeof(dst)))
		differs(p, "the addresses are wrong");
	if (p->bad_icrc)
		differs(p, "the ICRC is wrong");
	v = line_num(l, "ecn", p->tos & 3);
	if (v != (p->tos & 3U))
		differs(p, "ecn is %d, not %llu", p->tos & 3,
			(unsigned long long)v);
	v = line_num(l, "dscp", p->tos >> 2);
	if (v != p->tos >> 2)
		differs(p, "dscp is %d, not %llu", p->tos >> 2,
			(unsigned long long)v);
	v = line_num(l, "ttl", p->ttl);
	if (v != p->ttl)
		differs(p, "ttl is %d, not %llu", p->ttl, (unsigned long long)v);
}

static void expect_payload(const struct packet *p, struct line *l, bool mad)
{
	const char *data = line_get(l, "data");
	const __u8 *at = p->t + opcode_bytes(p->t[BTH_OPCODE]);
	const char *ranges = line_get(l, "ranges");
	int len = line_num(l, "len", payload_default(p->t[BTH_OPCODE], ranges, mad));
	static __u8 want[MAX_PAYLOAD];
	int i;

	if (ranges && strcmp(ranges, ranges_show(p)))
		differs(p, "the ranges are not %s", ranges);
	if (p->payload != len)
		differs(p, "len is %d, not %d", p->payload, len);
	if (!data && p->t[BTH_OPCODE] == OPCODE_CNP)
		data = "zero";
	if (!data)
		return;
	data_fill(data, want, len);
	for (i = 0; i < len; i++)
		if (at[i] != want[i])
			differs(p, "byte %d of the payload is %02x, not %02x", i,
				at[i], want[i]);
}

void packet_expect(const struct packet *p, struct line *l)
{
	bool mad = line_has(l, "mad");
	unsigned int syn;
	__u8 opcode;
	size_t i;
	__u64 v;

	opcode = op_parse(line_word(l, 1), &syn);
	if (p->t[BTH_OPCODE] != opcode ||
	    (syn && !syn_is(syn, get(p, "syn"))))
		fail_timed("wrong packet: %s", packet_show(p));
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!field_is_in(p, &fields[i]))
			continue;
		if (field_said(l, &fields[i], &v))
			expect(p, fields[i].name, v);
		expect_least(p, l, &fields[i]);
	}
	expect_defaults(p, l);
	expect_payload(p, l, mad);
	expect_ip(p, l);
}

bool packet_is_before(const struct packet *p, struct line *l)
{
	__u32 psn = line_num(l, "psn", 0);

	return p->t[BTH_OPCODE] == (qp->transport | OP_ACK) &&
	       syn_is(SYN_ANY, get(p, "syn")) &&
	       ((psn - get(p, "psn")) & PSN_MASK) - 1 < PSN_MASK / 2;
}
