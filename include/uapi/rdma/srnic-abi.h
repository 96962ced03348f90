/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * srnic - ABI between the driver and its user-space provider
 *
 * Queues are rings of fixed-stride entries in memory that the kernel allocates
 * and the provider maps.  A ring starts with struct srnic_ring_hdr; its first
 * entry is at offset SRNIC_RING_ENTRIES.  Indices are free-running modulo 2^32;
 * the entry is index & (entries - 1), where entries is a power of two.
 * An index is stored with release and loaded with acquire semantics.
 *
 * The kernel does not trust ring contents: it copies an entry once and validates
 * the copy.  No state that it needs for its own safety is kept in a ring.
 */
#ifndef SRNIC_ABI_USER_H
#define SRNIC_ABI_USER_H

#include <linux/types.h>

/*
 * The device reports this as uverbs_abi_ver.  Providers of other drivers also match
 * devices by name, and their versions start at 1; this version is outside their
 * range, so that none of them claims an srnic device.
 */
#define SRNIC_ABI_REVISION	1
#define SRNIC_ABI_VERSION	(1000 + SRNIC_ABI_REVISION)

/* rdma_driver_id of this driver: "SRNI", far above the kernel's own enum */
#define SRNIC_DRIVER_ID		0x53524e49

/* node_desc starts with this text on every srnic device */
#define SRNIC_NODE_DESC		"srnic"

#define SRNIC_RING_ENTRIES	128	/* offset of the first entry */

/**
 * struct srnic_map - location and layout of a ring
 * @offset: argument for mmap() on the device's command file
 * @length: bytes to map
 * @entries: number of entries, a power of two
 * @stride: bytes from one entry to the next
 */
struct srnic_map {
	__aligned_u64	offset;
	__aligned_u64	length;
	__u32		entries;
	__u32		stride;
};

/**
 * struct srnic_ring_hdr - the shared words of one ring
 * @user: written by user space: producer index of an SQ, RQ or SRQ, consumer
 *	  index of a CQ
 * @arm: CQ only: user space ORs in enum srnic_cq_arm bits to request an event
 *	 for the next completion; the kernel clears the word when it raises the
 *	 event.  Completions that are already in the ring raise no event
 * @kern: written by the kernel: consumer index of an SQ, RQ or SRQ (earlier
 *	  entries may be reused), producer index of a CQ
 * @flags: written by the kernel: enum srnic_ring_flags
 * @next: SRQ only, written by the kernel: the ring that has replaced this one
 *	  when ibv_modify_srq() returns from a resize.  Indices continue in the
 *	  new ring, which already contains the posted entries
 */
struct srnic_ring_hdr {
	__u32			user;
	__u32			arm;
	__u32			rsvd_user[14];
	__u32			kern;
	__u32			flags;
	struct srnic_map	next;
	__u32			rsvd_kern[8];
};

/* Bits of srnic_ring_hdr.arm */
enum srnic_cq_arm {
	SRNIC_CQ_ARM_SOLICITED	= 1 << 0,	/* solicited completion or error */
	SRNIC_CQ_ARM_NEXT	= 1 << 1,	/* any completion */
};

/*
 * Bits of srnic_ring_hdr.flags.  A receive ring needs a doorbell after posting
 * only if KICK is set: the queue pair is in error and must flush, or the ring's
 * object has been destroyed, as happens when the device is removed, and the
 * doorbell fails.  A send ring needs a doorbell after posting unless POLLED is set
 * (a thread of the process polls the ring).  The provider stores @user, executes a full
 * barrier and then loads flags.
 */
enum srnic_ring_flags {
	SRNIC_RING_KICK		= 1 << 0,
	SRNIC_RING_OVERRUN	= 1 << 1,	/* CQ lost a completion */
	SRNIC_RING_POLLED	= 1 << 2,
};

struct srnic_sge {
	__aligned_u64	addr;
	__u32		length;
	__u32		lkey;
};

/**
 * struct srnic_sqe - send queue entry
 * @wr_id: returned in the completion
 * @opcode: enum ib_uverbs_wr_opcode
 * @flags: IBV_SEND_* bits
 * @num_sge: number of struct srnic_sge that follow; 0 with inline data
 * @inline_len: bytes of inline data that follow, with IBV_SEND_INLINE
 * @imm_data: immediate data, network order
 * @invalidate_rkey: key that SEND_WITH_INV and LOCAL_INV invalidate
 * @rkey: remote key of one-sided operations
 * @remote_addr: remote address of one-sided operations
 * @atomic: operands of atomic operations, also on XRC
 * @ud: UD: destination
 * @xrc: XRC: shared receive queue of the peer
 * @flush: parameters of FLUSH
 * @bind: parameters of BIND_MW
 * @masked: operands of atomics with masks, which only the kernel can post
 */
struct srnic_sqe {
	__aligned_u64	wr_id;
	__u8		opcode;
	__u8		flags;
	__u16		num_sge;
	__u32		inline_len;
	union {
		__be32	imm_data;
		__u32	invalidate_rkey;
	};
	__u32		rkey;
	__aligned_u64	remote_addr;
	union {
		struct {
			__aligned_u64	compare_add;
			__aligned_u64	swap;
		} atomic;
		struct {
			__u32		ah;		/* from srnic_create_ah_resp */
			__u32		qpn;
			__u32		qkey;
		} ud;
		struct {
			__aligned_u64	operands[2];	/* same as @atomic */
			__u32		srqn;
		} xrc;
		struct {
			__u32		length;
			__u8		type;		/* IBV_FLUSH_* bits */
			__u8		level;		/* enum ibv_flush_level */
		} flush;
		struct {
			__aligned_u64	addr;
			__aligned_u64	length;
			__u32		mr_lkey;
			__u32		mw_rkey;	/* key before the bind */
			__u32		new_rkey;	/* key after the bind */
			__u32		access;
		} bind;
		struct {
			__aligned_u64	operands[2];	/* same as @atomic */
			__aligned_u64	compare_add_mask;
			__aligned_u64	swap_mask;
		} masked;
	};
};

/* Receive queue entry, followed by num_sge struct srnic_sge */
struct srnic_rqe {
	__aligned_u64	wr_id;
	__u32		num_sge;
	__u32		rsvd;
};

/* Bits of srnic_cqe.flags: IBV_WC_* */
enum srnic_cqe_flags {
	SRNIC_WC_GRH		= 1 << 0,
	SRNIC_WC_WITH_IMM	= 1 << 1,
	SRNIC_WC_IP_CSUM_OK	= 1 << 2,
	SRNIC_WC_WITH_INV	= 1 << 3,
};

/**
 * struct srnic_cqe - completion queue entry
 * @wr_id: as in the work request
 * @timestamp: CLOCK_MONOTONIC_RAW in ns when the completion was written
 * @qpn: local queue pair number
 * @byte_len: bytes received, or read
 * @imm_data: valid with SRNIC_WC_WITH_IMM, network order
 * @invalidated_rkey: valid with SRNIC_WC_WITH_INV
 * @src_qp: UD: sender's queue pair number
 * @vendor_err: details for debugging, 0 if there are none
 * @status: enum ibv_wc_status
 * @opcode: enum ibv_wc_opcode; undefined unless status is success
 * @flags: enum srnic_cqe_flags
 * @sl: UD: service level
 * @pkey_index: UD: index of the packet's P_Key
 * @vlan: UD: VLAN tag, 0xffff if there was none
 * @smac: UD: Ethernet address of the sender, zeros if unknown
 * @ip_version: UD: 4 or 6; an IPv4 header fills the last 20 of the 40 bytes in
 *		front of the payload
 * @flow_tag: raw packets: tag of the matching flow, or 0
 */
struct srnic_cqe {
	__aligned_u64	wr_id;
	__aligned_u64	timestamp;
	__u32		qpn;
	__u32		byte_len;
	union {
		__be32	imm_data;
		__u32	invalidated_rkey;
	};
	__u32		src_qp;
	__u32		vendor_err;
	__u8		status;
	__u8		opcode;
	__u8		flags;
	__u8		sl;
	__u16		pkey_index;
	__u16		vlan;
	__u8		smac[6];
	__u8		ip_version;
	__u8		rsvd_byte;
	__u32		flow_tag;
	__u32		rsvd[2];
};

/* udata of the verbs; verbs without a struct here have none */

/**
 * struct srnic_alloc_ucontext - open a device; it may be left out
 * @poll_usecs: how long a thread of this process polls a send queue after a post, us; 0: never
 */
struct srnic_alloc_ucontext {
	__u32		poll_usecs;
	__u32		rsvd;
};

struct srnic_alloc_ucontext_resp {
	__u32		max_inline;	/* bytes */
	__u32		rsvd;
};

struct srnic_create_cq_resp {
	struct srnic_map	ring;
};

struct srnic_resize_cq_resp {
	struct srnic_map	ring;
};

/* Bits of srnic_reg_mr.flags */
#define SRNIC_REG_MR_NULL	1	/* no memory: reads as zeros, discards writes */

/**
 * struct srnic_reg_mr - register a null region
 * @flags: SRNIC_REG_MR_NULL; address, length and access rights are then 0.  The region
 *	   has an lkey for all addresses, and no rkey
 *
 * Other regions are registered without this struct.
 */
struct srnic_reg_mr {
	__u32		flags;
	__u32		rsvd;
};

/* Values of srnic_create_qp_rss.function: IBV_RX_HASH_FUNC_* */
#define SRNIC_RX_HASH_TOEPLITZ	1

/* Bits of srnic_create_qp_rss.fields: IBV_RX_HASH_*, addresses and ports */
#define SRNIC_RX_HASH_FIELDS	0xff

#define SRNIC_RX_HASH_KEY_BYTES	40

/**
 * struct srnic_create_qp_rss - RSS parameters of a QP with an indirection table
 * @fields: fields to hash, see SRNIC_RX_HASH_FIELDS; none: all frames go to the
 *	    only queue of the table
 * @function: SRNIC_RX_HASH_TOEPLITZ
 * @key_len: length of @key in bytes, SRNIC_RX_HASH_KEY_BYTES
 * @key: hash key
 *
 * A QP without an indirection table is created without this struct.
 */
struct srnic_create_qp_rss {
	__aligned_u64	fields;
	__u8		function;
	__u8		key_len;
	__u8		rsvd[6];
	__u8		key[SRNIC_RX_HASH_KEY_BYTES];
};

struct srnic_create_qp_resp {
	struct srnic_map	sq;	/* length 0: the QP has no such ring */
	struct srnic_map	rq;
};

struct srnic_query_dm_resp {
	struct srnic_map	map;
	__aligned_u64		length;	/* requested size in bytes */
};

struct srnic_create_wq_resp {
	struct srnic_map	ring;
};

struct srnic_create_srq_resp {
	struct srnic_map	ring;
	__u32			srqn;
	__u32			rsvd;
};

struct srnic_create_ah_resp {
	__u32		ah;
	__u32		rsvd;
};

/* Driver methods of ioctl objects, in the driver namespace */
enum srnic_dm_methods {
	SRNIC_METHOD_DM_QUERY = 1U << 12,
};

/* Driver attributes of methods of the core */
enum srnic_attrs {
	SRNIC_ATTR_ALLOC_DM_MAP = 1U << 12,	/* out: struct srnic_map */
};

enum srnic_query_dm_attrs {
	SRNIC_ATTR_QUERY_DM_HANDLE = 1U << 12,
	SRNIC_ATTR_QUERY_DM_RESP,		/* out: srnic_query_dm_resp */
};

#ifndef __cplusplus
_Static_assert(sizeof(struct srnic_ring_hdr) == SRNIC_RING_ENTRIES, "ring");
_Static_assert(sizeof(struct srnic_map) == 24, "map");
_Static_assert(sizeof(struct srnic_sge) == 16, "sge");
_Static_assert(sizeof(struct srnic_sqe) == 64, "sqe");
_Static_assert(sizeof(struct srnic_rqe) == 16, "rqe");
_Static_assert(sizeof(struct srnic_cqe) == 64, "cqe");
_Static_assert(sizeof(struct srnic_alloc_ucontext) == 8, "alloc_ucontext");
_Static_assert(sizeof(struct srnic_alloc_ucontext_resp) == 8, "ucontext");
_Static_assert(sizeof(struct srnic_create_cq_resp) == 24, "create_cq");
_Static_assert(sizeof(struct srnic_resize_cq_resp) == 24, "resize_cq");
_Static_assert(sizeof(struct srnic_reg_mr) == 8, "reg_mr");
_Static_assert(sizeof(struct srnic_create_qp_rss) == 56, "create_qp_rss");
_Static_assert(sizeof(struct srnic_create_qp_resp) == 48, "create_qp");
_Static_assert(sizeof(struct srnic_create_wq_resp) == 24, "create_wq");
_Static_assert(sizeof(struct srnic_create_srq_resp) == 32, "create_srq");
_Static_assert(sizeof(struct srnic_query_dm_resp) == 32, "query_dm");
_Static_assert(sizeof(struct srnic_create_ah_resp) == 8, "create_ah");
#endif

#endif /* SRNIC_ABI_USER_H */
