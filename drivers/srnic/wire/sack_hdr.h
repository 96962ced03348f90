/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - payload of the SACK packet: which requests were kept out of order
 *
 * Not part of the specification: the opcode is one of those that it leaves to manufacturers,
 * so the payload begins with an identifier.  Documentation/wire.rst describes it.
 * srnic_sack_parse() is the trust boundary: the ranges that it returns ascend, do not touch,
 * and lie within the SRNIC_SACK_SPAN PSNs that follow the PSN of the packet.
 */
#ifndef SRNIC_WIRE_SACK_HDR_H
#define SRNIC_WIRE_SACK_HDR_H

#include <linux/types.h>

/* Ranges in one packet at most */
#define SRNIC_SACK_MAX		32

/* PSNs from that of the packet on which may be listed: no requester has more in flight */
#define SRNIC_SACK_SPAN		16384

#define SRNIC_SACK_HEAD_BYTES	12
#define SRNIC_SACK_RANGE_BYTES	8
#define SRNIC_SACK_BYTES_MAX	(SRNIC_SACK_HEAD_BYTES + \
				 SRNIC_SACK_MAX * SRNIC_SACK_RANGE_BYTES)

/**
 * struct srnic_sack_range - consecutive PSNs
 * @psn: the first
 * @npsn: their number
 */
struct srnic_sack_range {
	__u32	psn;
	__u32	npsn;
};

/**
 * struct srnic_sack_hdr - payload of a SACK packet
 * @wants_reply: the sender does not know whether its peer understands
 * @pace: how fast the sender wants responses to its READs; 0: at once.  See
 *	  srnic_sack_pace_nsec()
 * @num: number of @range
 * @seen: PSN following the last that has arrived; that of the packet, if none behind has
 * @range: what was kept, ascending
 */
struct srnic_sack_hdr {
	bool			wants_reply;
	__u8			pace;
	__u8			num;
	__u32			seen;
	struct srnic_sack_range	range[SRNIC_SACK_MAX];
};

/* Why a payload was refused */
enum srnic_sack_parse {
	SRNIC_SACK_OK,
	SRNIC_SACK_LENGTH,	/* not what the number of ranges takes */
	SRNIC_SACK_MAGIC,	/* another manufacturer's packet */
	SRNIC_SACK_VERSION,
	SRNIC_SACK_COUNT,	/* more than SRNIC_SACK_MAX ranges */
	SRNIC_SACK_SEEN,	/* the last PSN seen is too far away, or before a range */
	SRNIC_SACK_RANGE,	/* empty, out of order, touching, or too far away */
	SRNIC_SACK_PARSE_NUM
};

/**
 * srnic_sack_bytes - length of the payload
 * @num: number of ranges
 *
 * Return: bytes, a multiple of 4.
 */
static inline unsigned int srnic_sack_bytes(unsigned int num)
{
	return SRNIC_SACK_HEAD_BYTES + num * SRNIC_SACK_RANGE_BYTES;
}

/**
 * srnic_sack_pace_nsec - time that a PSN takes
 * @pace: as in struct srnic_sack_hdr, not 0
 *
 * Return: ns, 9 to 32 * 10^9.
 */
static inline __u64 srnic_sack_pace_nsec(__u8 pace)
{
	return (__u64)(8 + (pace & 7)) << (pace >> 3);
}

/**
 * srnic_sack_pace_of - the slowest pace that is not slower
 * @nsec: time that a PSN may take, ns
 *
 * Return: a value for struct srnic_sack_hdr, not 0.
 */
__u8 srnic_sack_pace_of(__u64 nsec);

/**
 * srnic_sack_parse - read the payload of a SACK packet
 * @data: payload
 * @len: bytes of it
 * @psn: PSN of the packet
 * @hdr: filled in on success
 *
 * Context: any.  Return: enum srnic_sack_parse.
 */
enum srnic_sack_parse srnic_sack_parse(const void *data, unsigned int len, __u32 psn,
				       struct srnic_sack_hdr *hdr);

/**
 * srnic_sack_build - write the payload of a SACK packet
 * @data: room for srnic_sack_bytes(hdr->num) bytes
 * @hdr: what it says; valid for the PSN of the packet
 *
 * Context: any.  Return: bytes written.
 */
unsigned int srnic_sack_build(void *data, const struct srnic_sack_hdr *hdr);

#endif /* SRNIC_WIRE_SACK_HDR_H */
