// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - payload of the SACK packet
 *
 * PSNs are checked as distances from the PSN of the packet.  A range cannot begin at that
 * PSN, the first one missing, nor right behind the range before it.
 */

#include <asm/byteorder.h>
#include <linux/string.h>

#include "psn.h"
#include "sack_hdr.h"

#define SACK_MAGIC		0x73524e53	/* "sRNS" */
#define SACK_VERSION		1
#define SACK_WANTS_REPLY	0x01

/* The fastest pace, and the slowest */
#define SACK_PACE_FIRST		1
#define SACK_PACE_LAST		255

/**
 * struct sack_head - what precedes the ranges, in wire format
 * @magic: identifier
 * @version: format of what follows
 * @flags: SACK_WANTS_REPLY; all others are sent as 0 and ignored
 * @num: number of ranges
 * @pace: of responses to the sender's READs, 0: none
 * @last: last PSN seen
 */
struct sack_head {
	__be32	magic;
	__u8	version;
	__u8	flags;
	__u8	num;
	__u8	pace;
	__be32	last;
} __packed __aligned(4);

struct sack_range {
	__be32	psn;
	__be32	npsn;
} __packed __aligned(4);

static enum srnic_sack_parse sack_check_head(const struct sack_head *head, unsigned int len)
{
	if (be32_to_cpu(head->magic) != SACK_MAGIC)
		return SRNIC_SACK_MAGIC;
	if (head->version != SACK_VERSION)
		return SRNIC_SACK_VERSION;
	if (head->num > SRNIC_SACK_MAX)
		return SRNIC_SACK_COUNT;

	return len == srnic_sack_bytes(head->num) ? SRNIC_SACK_OK : SRNIC_SACK_LENGTH;
}

/*
 * Reads the ranges at @p, of a packet with @psn.  Return: the distance from @psn to the end
 * of the last range, 0 if there is none, or -1 if a range is invalid.
 */
static __s32 sack_get_ranges(const __u8 *p, __u32 psn, struct srnic_sack_hdr *hdr)
{
	struct sack_range raw;
	__s32 ahead, end = 0;
	__u32 first, npsn;
	unsigned int i;

	for (i = 0; i < hdr->num; i++, p += sizeof(raw)) {
		memcpy(&raw, p, sizeof(raw));
		first = be32_to_cpu(raw.psn);
		npsn = be32_to_cpu(raw.npsn);
		ahead = srnic_psn_diff(first, psn);
		if (first > SRNIC_PSN_MASK || ahead <= end || ahead >= SRNIC_SACK_SPAN ||
		    !npsn || npsn > (__u32)(SRNIC_SACK_SPAN - ahead))
			return -1;
		end = ahead + npsn;
		hdr->range[i] = (struct srnic_sack_range){ first, npsn };
	}

	return end;
}

__u8 srnic_sack_pace_of(__u64 nsec)
{
	unsigned int shift = 0;

	if (nsec <= srnic_sack_pace_nsec(SACK_PACE_FIRST))
		return SACK_PACE_FIRST;
	if (nsec >= srnic_sack_pace_nsec(SACK_PACE_LAST))
		return SACK_PACE_LAST;
	while (nsec >> shift > 15)
		shift++;

	return (shift << 3) + (nsec >> shift) - 8;
}

enum srnic_sack_parse srnic_sack_parse(const void *data, unsigned int len, __u32 psn,
				       struct srnic_sack_hdr *hdr)
{
	enum srnic_sack_parse verdict;
	struct sack_head head;
	__s32 end, seen;
	__u32 last;

	if (len < sizeof(head))
		return SRNIC_SACK_LENGTH;
	memcpy(&head, data, sizeof(head));
	verdict = sack_check_head(&head, len);
	if (verdict)
		return verdict;

	hdr->wants_reply = head.flags & SACK_WANTS_REPLY;
	hdr->pace = head.pace;
	hdr->num = head.num;
	end = sack_get_ranges((const __u8 *)data + sizeof(head), psn, hdr);
	if (end < 0)
		return SRNIC_SACK_RANGE;

	last = be32_to_cpu(head.last);
	hdr->seen = srnic_psn_add(last, 1);
	seen = srnic_psn_diff(hdr->seen, psn);
	if (last > SRNIC_PSN_MASK || seen < end || seen > SRNIC_SACK_SPAN)
		return SRNIC_SACK_SEEN;

	return SRNIC_SACK_OK;
}

unsigned int srnic_sack_build(void *data, const struct srnic_sack_hdr *hdr)
{
	struct sack_head head = {
		.magic	 = cpu_to_be32(SACK_MAGIC),
		.version = SACK_VERSION,
		.flags	 = hdr->wants_reply ? SACK_WANTS_REPLY : 0,
		.num	 = hdr->num,
		.pace	 = hdr->pace,
		.last	 = cpu_to_be32(srnic_psn_add(hdr->seen, -1)),
	};
	struct sack_range raw;
	__u8 *p = data;
	unsigned int i;

	memcpy(p, &head, sizeof(head));
	p += sizeof(head);
	for (i = 0; i < hdr->num; i++, p += sizeof(raw)) {
		raw.psn = cpu_to_be32(hdr->range[i].psn);
		raw.npsn = cpu_to_be32(hdr->range[i].npsn);
		memcpy(p, &raw, sizeof(raw));
	}

	return srnic_sack_bytes(hdr->num);
}
