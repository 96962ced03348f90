// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - receive side scaling: a hash over addresses and ports of a frame
 */

#include <linux/string.h>

#include "rss.h"

__u32 srnic_toeplitz(const __u8 *key, const __u8 *data, unsigned int len)
{
	__u32 window = (__u32)key[0] << 24 | key[1] << 16 | key[2] << 8 | key[3];
	__u32 hash = 0;
	unsigned int i;
	int bit;

	for (i = 0; i < len; i++) {
		for (bit = 7; bit >= 0; bit--) {
			if (data[i] >> bit & 1)
				hash ^= window;
			window = window << 1 | (key[i + 4] >> bit & 1);
		}
	}

	return hash;
}

/**
 * struct rss_input - one field of the hash input
 * @field: SRNIC_RSS_* bit that selects it
 * @has: SRNIC_HAS_* bit of frames that have it
 * @offset: offset in struct srnic_fields
 * @bytes: length in bytes
 */
struct rss_input {
	__u8	field;
	__u8	has;
	__u8	offset;
	__u8	bytes;
};

#define RSS_OFF(member)	__builtin_offsetof(struct srnic_fields, member)

static const struct rss_input rss_inputs[] = {
	{ SRNIC_RSS_SRC_IPV4,	SRNIC_HAS_IPV4,	RSS_OFF(saddr),	4 },
	{ SRNIC_RSS_SRC_IPV6,	SRNIC_HAS_IPV6,	RSS_OFF(saddr),	16 },
	{ SRNIC_RSS_DST_IPV4,	SRNIC_HAS_IPV4,	RSS_OFF(daddr),	4 },
	{ SRNIC_RSS_DST_IPV6,	SRNIC_HAS_IPV6,	RSS_OFF(daddr),	16 },
	{ SRNIC_RSS_SRC_TCP,	SRNIC_HAS_TCP,	RSS_OFF(sport),	2 },
	{ SRNIC_RSS_SRC_UDP,	SRNIC_HAS_UDP,	RSS_OFF(sport),	2 },
	{ SRNIC_RSS_DST_TCP,	SRNIC_HAS_TCP,	RSS_OFF(dport),	2 },
	{ SRNIC_RSS_DST_UDP,	SRNIC_HAS_UDP,	RSS_OFF(dport),	2 },
	{ }
};

__u32 srnic_rss_hash(const struct srnic_rss_conf *conf,
		     const struct srnic_fields *f)
{
	__u8 input[SRNIC_RSS_KEY_BYTES - 4];
	const struct rss_input *in;
	unsigned int len = 0;

	for (in = rss_inputs; in->field; in++) {
		if (!(conf->fields & in->field) || !(f->has & in->has))
			continue;
		memcpy(input + len, (const __u8 *)f + in->offset, in->bytes);
		len += in->bytes;
	}

	return srnic_toeplitz(conf->key, input, len);
}
