// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - conversion of a packet's transport headers between wire and host format
 *
 * Parser and builder walk the header bits of the opcode's row in the order of
 * the headers on the wire.  Headers are copied as a whole, so the packet need
 * not be aligned.
 */

#include <asm/byteorder.h>
#include <linux/string.h>

#include "pkt.h"
#include "psn.h"

#define BTH_BYTES		((unsigned int)sizeof(struct srnic_bth))
#define ATOMIC_WRITE_BYTES	8	/* annex A19: payload is one operand */

static __u32 get_be32(const __u8 *p)
{
	__be32 value;

	memcpy(&value, p, sizeof(value));

	return be32_to_cpu(value);
}

static __u64 get_be64(const __u8 *p)
{
	__be64 value;

	memcpy(&value, p, sizeof(value));

	return be64_to_cpu(value);
}

static __u8 *put_be32(__u8 *p, __u32 value)
{
	__be32 raw = cpu_to_be32(value);

	memcpy(p, &raw, sizeof(raw));

	return p + sizeof(raw);
}

static __u8 *put_be64(__u8 *p, __u64 value)
{
	__be64 raw = cpu_to_be64(value);

	memcpy(p, &raw, sizeof(raw));

	return p + sizeof(raw);
}

/*
 * May a packet of @op carry @payload bytes?  Payload and pad together are whole
 * words, so a payload that must be whole words has no pad.
 */
static bool payload_fits(const struct srnic_op *op, unsigned int payload)
{
	if (!(op->flags & SRNIC_OP_DATA))
		return payload == 0;
	if (op->family == SRNIC_FAM_ATOMIC_WRITE)
		return payload == ATOMIC_WRITE_BYTES;
	if (op->family == SRNIC_FAM_CNP)
		return payload == SRNIC_CNP_BYTES;

	return true;
}

static void parse_bth(const struct srnic_bth *bth, struct srnic_pkt *pkt)
{
	__u32 qpn = be32_to_cpu(bth->qpn);
	__u32 apsn = be32_to_cpu(bth->apsn);

	pkt->opcode = bth->opcode;
	pkt->se = bth->flags & SRNIC_BTH_SE;
	pkt->migreq = bth->flags & SRNIC_BTH_MIGREQ;
	pkt->pad = (bth->flags & SRNIC_BTH_PAD_MASK) >> SRNIC_BTH_PAD_SHIFT;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->fecn = qpn & SRNIC_BTH_FECN;
	pkt->becn = qpn & SRNIC_BTH_BECN;
	pkt->qpn = qpn & SRNIC_QPN_MASK;
	pkt->ackreq = apsn & SRNIC_BTH_ACKREQ;
	pkt->psn = apsn & SRNIC_PSN_MASK;
}

/* Other manufacturers may use the same opcode. */
static bool masks_are_ours(const __u8 *p)
{
	struct srnic_masks_hdr hdr;

	memcpy(&hdr, p, sizeof(hdr));

	return be32_to_cpu(hdr.magic) == SRNIC_MASKS_MAGIC &&
	       hdr.version == SRNIC_MASKS_VERSION;
}

static const __u8 *parse_masks(const __u8 *p, struct srnic_pkt *pkt)
{
	struct srnic_masks_hdr hdr;

	memcpy(&hdr, p, sizeof(hdr));
	pkt->compare_add_mask = be64_to_cpu(hdr.compare_add);
	pkt->swap_mask = be64_to_cpu(hdr.swap);

	return p + sizeof(hdr);
}

static void parse_headers(const __u8 *p, __u16 hdrs, struct srnic_pkt *pkt)
{
	if (hdrs & SRNIC_H_XRCETH) {
		pkt->srqn = get_be32(p) & SRNIC_QPN_MASK;
		p += 4;
	}
	if (hdrs & SRNIC_H_DETH) {
		struct srnic_deth deth;

		memcpy(&deth, p, sizeof(deth));
		pkt->qkey = be32_to_cpu(deth.qkey);
		pkt->src_qp = be32_to_cpu(deth.src_qp) & SRNIC_QPN_MASK;
		p += sizeof(deth);
	}
	if (hdrs & SRNIC_H_FETH) {
		pkt->feth = get_be32(p);
		p += 4;
	}
	if (hdrs & SRNIC_H_RETH) {
		struct srnic_reth reth;

		memcpy(&reth, p, sizeof(reth));
		pkt->va = be64_to_cpu(reth.va);
		pkt->rkey = be32_to_cpu(reth.rkey);
		pkt->dmalen = be32_to_cpu(reth.dmalen);
		p += sizeof(reth);
	}
	if (hdrs & SRNIC_H_MASKS)
		p = parse_masks(p, pkt);
	if (hdrs & SRNIC_H_ATOMIC) {
		struct srnic_atomic_eth eth;

		memcpy(&eth, p, sizeof(eth));
		pkt->va = be64_to_cpu(eth.va);
		pkt->rkey = be32_to_cpu(eth.rkey);
		pkt->swap_add = be64_to_cpu(eth.swap_add);
		pkt->compare = be64_to_cpu(eth.compare);
		p += sizeof(eth);
	}
	if (hdrs & SRNIC_H_AETH) {
		pkt->syndrome = *p;
		pkt->msn = get_be32(p) & SRNIC_PSN_MASK;
		p += 4;
	}
	if (hdrs & SRNIC_H_ATOMACK) {
		pkt->swap_add = get_be64(p);
		p += 8;
	}
	if (hdrs & SRNIC_H_IMM)
		memcpy(&pkt->imm, p, sizeof(pkt->imm));
	if (hdrs & SRNIC_H_IETH)
		pkt->inv_rkey = get_be32(p);
}

enum srnic_parse srnic_pkt_parse(const void *data, unsigned int linear,
				 unsigned int len, struct srnic_pkt *pkt)
{
	const struct srnic_op *op;
	struct srnic_bth bth;
	unsigned int hdr_len;
	unsigned int rest;
	unsigned int pad;

	if (linear < BTH_BYTES || len < BTH_BYTES + SRNIC_ICRC_BYTES)
		return SRNIC_PARSE_SHORT;

	memcpy(&bth, data, sizeof(bth));
	if (bth.flags & SRNIC_BTH_TVER_MASK)
		return SRNIC_PARSE_VERSION;

	op = &srnic_ops[bth.opcode];
	if (op->family == SRNIC_FAM_NONE)
		return SRNIC_PARSE_OPCODE;

	hdr_len = op->hdr_len;
	if (linear < hdr_len || len < hdr_len + SRNIC_ICRC_BYTES)
		return SRNIC_PARSE_SHORT;

	rest = len - hdr_len - SRNIC_ICRC_BYTES;
	pad = (bth.flags & SRNIC_BTH_PAD_MASK) >> SRNIC_BTH_PAD_SHIFT;
	if (rest < pad || rest % 4)
		return SRNIC_PARSE_SHORT;
	if (!payload_fits(op, rest - pad))
		return SRNIC_PARSE_PAYLOAD;
	if (op->hdrs & SRNIC_H_MASKS && !masks_are_ours((const __u8 *)data + BTH_BYTES))
		return SRNIC_PARSE_FOREIGN;

	parse_bth(&bth, pkt);
	pkt->hdr_len = hdr_len;
	pkt->payload = rest - pad;
	parse_headers((const __u8 *)data + BTH_BYTES, op->hdrs, pkt);

	return SRNIC_PARSE_OK;
}

void srnic_pkt_init(struct srnic_pkt *pkt, __u8 opcode, __u32 qpn, __u32 psn)
{
	pkt->opcode = opcode;
	pkt->migreq = true;
	pkt->pkey = SRNIC_PKEY_DEFAULT;
	pkt->qpn = qpn;
	pkt->psn = psn;
}

static __u8 *build_bth(__u8 *p, const struct srnic_pkt *pkt)
{
	struct srnic_bth bth = {
		.opcode	= pkt->opcode,
		.flags	= (pkt->se ? SRNIC_BTH_SE : 0) |
			  (pkt->migreq ? SRNIC_BTH_MIGREQ : 0) |
			  ((pkt->pad << SRNIC_BTH_PAD_SHIFT) & SRNIC_BTH_PAD_MASK),
		.pkey	= cpu_to_be16(pkt->pkey),
		.qpn	= cpu_to_be32((pkt->fecn ? SRNIC_BTH_FECN : 0) |
				      (pkt->becn ? SRNIC_BTH_BECN : 0) |
				      (pkt->qpn & SRNIC_QPN_MASK)),
		.apsn	= cpu_to_be32((pkt->ackreq ? SRNIC_BTH_ACKREQ : 0) |
				      (pkt->psn & SRNIC_PSN_MASK)),
	};

	memcpy(p, &bth, sizeof(bth));

	return p + sizeof(bth);
}

static __u8 *build_masks(__u8 *p, const struct srnic_pkt *pkt)
{
	struct srnic_masks_hdr hdr = {
		.magic		= cpu_to_be32(SRNIC_MASKS_MAGIC),
		.version	= SRNIC_MASKS_VERSION,
		.compare_add	= cpu_to_be64(pkt->compare_add_mask),
		.swap		= cpu_to_be64(pkt->swap_mask),
	};

	memcpy(p, &hdr, sizeof(hdr));

	return p + sizeof(hdr);
}

unsigned int srnic_pkt_build(void *data, const struct srnic_pkt *pkt)
{
	const struct srnic_op *op = srnic_pkt_op(pkt);
	__u16 hdrs = op->hdrs;
	__u8 *p = data;

	if (op->family == SRNIC_FAM_NONE)
		return 0;

	p = build_bth(p, pkt);
	if (hdrs & SRNIC_H_XRCETH)
		p = put_be32(p, pkt->srqn & SRNIC_QPN_MASK);
	if (hdrs & SRNIC_H_DETH) {
		p = put_be32(p, pkt->qkey);
		p = put_be32(p, pkt->src_qp & SRNIC_QPN_MASK);
	}
	if (hdrs & SRNIC_H_FETH)
		p = put_be32(p, pkt->feth);
	if (hdrs & SRNIC_H_MASKS)
		p = build_masks(p, pkt);
	if (hdrs & (SRNIC_H_RETH | SRNIC_H_ATOMIC)) {
		p = put_be64(p, pkt->va);
		p = put_be32(p, pkt->rkey);
	}
	if (hdrs & SRNIC_H_RETH)
		p = put_be32(p, pkt->dmalen);
	if (hdrs & SRNIC_H_ATOMIC) {
		p = put_be64(p, pkt->swap_add);
		p = put_be64(p, pkt->compare);
	}
	if (hdrs & SRNIC_H_AETH)
		p = put_be32(p, (__u32)pkt->syndrome << 24 |
			     (pkt->msn & SRNIC_PSN_MASK));
	if (hdrs & SRNIC_H_ATOMACK)
		p = put_be64(p, pkt->swap_add);
	if (hdrs & SRNIC_H_IMM)
		memcpy(p, &pkt->imm, sizeof(pkt->imm));
	if (hdrs & SRNIC_H_IETH)
		put_be32(p, pkt->inv_rkey);

	return op->hdr_len;
}
