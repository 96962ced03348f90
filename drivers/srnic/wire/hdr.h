/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - RoCEv2 transport headers in wire format
 *
 * Layouts of InfiniBand Architecture Specification volume 1 chapter 9.
 * All fields are big endian; no alignment beyond four bytes may be assumed.
 */
#ifndef SRNIC_WIRE_HDR_H
#define SRNIC_WIRE_HDR_H

#include <linux/types.h>

#define SRNIC_UDP_PORT		4791
#define SRNIC_ICRC_BYTES	4
#define SRNIC_PKEY_DEFAULT	0xffff
#define SRNIC_QPN_MASK		0xffffffU
#define SRNIC_QPN_MCAST		0xffffffU
#define SRNIC_QPN_GSI		1
#define SRNIC_GRH_BYTES		40
#define SRNIC_CNP_BYTES		16	/* annex A17.9.3: reserved bytes as payload */

/* Longest chain of headers behind UDP: BTH, masks, AtomicETH */
#define SRNIC_HDR_MAX		(12 + 24 + 28)

/**
 * struct srnic_bth - base transport header
 * @opcode: transport and operation, index into srnic_ops[]
 * @flags: SRNIC_BTH_* and the transport header version, which is 0
 * @pkey: partition key
 * @qpn: FECN, BECN, six reserved bits, destination QP (24 bits)
 * @apsn: acknowledge request, seven reserved bits, PSN (24 bits)
 */
struct srnic_bth {
	__u8	opcode;
	__u8	flags;
	__be16	pkey;
	__be32	qpn;
	__be32	apsn;
} __packed __aligned(4);

#define SRNIC_BTH_SE		0x80
#define SRNIC_BTH_MIGREQ	0x40
#define SRNIC_BTH_PAD_SHIFT	4
#define SRNIC_BTH_PAD_MASK	0x30
#define SRNIC_BTH_TVER_MASK	0x0f
#define SRNIC_BTH_FECN		0x80000000U
#define SRNIC_BTH_BECN		0x40000000U
#define SRNIC_BTH_ACKREQ	0x80000000U

struct srnic_reth {
	__be64	va;
	__be32	rkey;
	__be32	dmalen;
} __packed __aligned(4);

struct srnic_atomic_eth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed __aligned(4);

/**
 * struct srnic_masks_hdr - masks of an atomic; srnic's own, see Documentation/wire.rst
 * @magic: SRNIC_MASKS_MAGIC
 * @version: SRNIC_MASKS_VERSION
 * @rsvd: sent as 0, ignored
 * @compare_add: CMP_SWAP: bits that are compared; FETCH_ADD: the last bits of fields
 * @swap: CMP_SWAP: bits that are replaced; FETCH_ADD: sent as 0, ignored
 */
struct srnic_masks_hdr {
	__be32	magic;
	__u8	version;
	__u8	rsvd[3];
	__be64	compare_add;
	__be64	swap;
} __packed __aligned(4);

#define SRNIC_MASKS_MAGIC	0x73524e4d	/* "sRNM" */
#define SRNIC_MASKS_VERSION	1

struct srnic_deth {
	__be32	qkey;
	__be32	src_qp;
} __packed __aligned(4);

#endif /* SRNIC_WIRE_HDR_H */
