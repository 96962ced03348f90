/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - conversion of a packet's transport headers between wire and host format
 *
 * srnic_pkt_parse() is the trust boundary: a packet that it accepts has every header
 * that its opcode requires, and its payload and pad lie inside the packet.
 */
#ifndef SRNIC_WIRE_PKT_H
#define SRNIC_WIRE_PKT_H

#include <linux/types.h>

#include "hdr.h"
#include "opcode.h"

/**
 * struct srnic_pkt - transport headers of one packet in host order
 * @opcode: BTH opcode
 * @se: solicited event
 * @ackreq: acknowledge request
 * @migreq: migration state bit
 * @fecn: forward congestion notification
 * @becn: backward congestion notification
 * @syndrome: AETH syndrome
 * @pad: bytes of padding after the payload, 0 to 3
 * @pkey: partition key
 * @hdr_len: bytes of BTH and extended headers
 * @payload: bytes of payload, without pad and ICRC
 * @qpn: destination queue pair
 * @psn: packet sequence number
 * @msn: AETH message sequence number
 * @srqn: XRCETH shared receive queue
 * @qkey: DETH queue key
 * @src_qp: DETH source queue pair
 * @feth: FETH: placement type in bits 0-3, selectivity level in bits 4-5
 * @va: RETH or AtomicETH address
 * @rkey: RETH or AtomicETH key
 * @dmalen: RETH length
 * @swap_add: AtomicETH swap or add data; ATOMIC_ACK: the original value
 * @compare: AtomicETH compare data
 * @compare_add_mask: as in struct srnic_masks_hdr
 * @swap_mask: as in struct srnic_masks_hdr
 * @imm: immediate data, network order as the application gave it
 * @inv_rkey: IETH key to invalidate
 *
 * Fields of headers that the opcode does not have are not written by the
 * parser and not read by the builder.
 */
struct srnic_pkt {
	__u8	opcode;
	bool	se;
	bool	ackreq;
	bool	migreq;
	bool	fecn;
	bool	becn;
	__u8	syndrome;
	__u8	pad;
	__u16	pkey;
	__u16	hdr_len;
	__u32	payload;
	__u32	qpn;
	__u32	psn;
	__u32	msn;
	__u32	srqn;
	__u32	qkey;
	__u32	src_qp;
	__u32	feth;
	__u64	va;
	__u32	rkey;
	__u32	dmalen;
	__u64	swap_add;
	__u64	compare;
	__u64	compare_add_mask;
	__u64	swap_mask;
	__be32	imm;
	__u32	inv_rkey;
};

/* Parts of the FETH; annex A19 */
#define SRNIC_FETH(type, level)	(((level) & 3) << 4 | ((type) & 0xf))
#define SRNIC_FETH_TYPE(feth)	((feth) & 0xf)
#define SRNIC_FETH_LEVEL(feth)	(((feth) >> 4) & 3)

static inline const struct srnic_op *srnic_pkt_op(const struct srnic_pkt *pkt)
{
	return &srnic_ops[pkt->opcode];
}

/* Why a packet was refused */
enum srnic_parse {
	SRNIC_PARSE_OK,
	SRNIC_PARSE_SHORT,	/* headers, pad or ICRC do not fit, or not whole words */
	SRNIC_PARSE_VERSION,	/* transport header version is not 0 */
	SRNIC_PARSE_OPCODE,	/* unknown opcode */
	SRNIC_PARSE_PAYLOAD,	/* payload length not valid for the opcode */
	SRNIC_PARSE_FOREIGN,	/* another manufacturer's packet, or another version */
};

/**
 * srnic_pkt_parse - read the transport headers of one packet
 * @data: start of the BTH
 * @linear: bytes that may be read at @data
 * @len: length of the packet from the BTH to the end of the ICRC; may be more
 *	 than @linear, since the payload is not read
 * @pkt: filled in on success
 *
 * Context: any.  Return: enum srnic_parse.
 */
enum srnic_parse srnic_pkt_parse(const void *data, unsigned int linear,
				 unsigned int len, struct srnic_pkt *pkt);

/**
 * srnic_pkt_init - fill in what all packets to a queue pair have in common
 * @pkt: the headers, zero; all others remain so
 * @opcode: opcode, with the service
 * @qpn: number of the queue pair
 * @psn: PSN
 */
void srnic_pkt_init(struct srnic_pkt *pkt, __u8 opcode, __u32 qpn, __u32 psn);

/**
 * srnic_pkt_build - write the transport headers of one packet
 * @data: room for srnic_ops[pkt->opcode].hdr_len bytes, at most SRNIC_HDR_MAX
 * @pkt: headers to write; pkt->pad goes into the BTH, pkt->hdr_len and
 *	 pkt->payload are not used
 *
 * Context: any.  Return: bytes written, 0 if the opcode is unknown.
 */
unsigned int srnic_pkt_build(void *data, const struct srnic_pkt *pkt);

#endif /* SRNIC_WIRE_PKT_H */
