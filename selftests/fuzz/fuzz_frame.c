// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the frame parser and the matching of rules, with arbitrary bytes
 *
 * The buffer has no byte beyond the frame.  Fields found must be within the
 * frame, must match themselves, and always have the same hash.
 */

#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"
#include "wire/rss.h"

#define require(what)			\
	do {				\
		if (!(what))		\
			abort();	\
	} while (0)

static void check_hash(const struct srnic_frame *frame)
{
	struct srnic_rss_conf conf = { .fields = SRNIC_RSS_ALL };

	memset(conf.key, 0x5a, sizeof(conf.key));
	require(srnic_rss_hash(&conf, &frame->f) ==
		srnic_rss_hash(&conf, &frame->f));
	conf.fields = 0;
	require(!srnic_rss_hash(&conf, &frame->f));
}

static void check_match(const struct srnic_frame *frame, const u8 *bytes,
			size_t len)
{
	struct srnic_match match = { .val = frame->f };
	u8 *mask = (u8 *)&match.mask;
	u8 *val = (u8 *)&match.val;
	size_t i;

	for (i = 0; i < sizeof(match.mask); i++) {
		mask[i] = len ? bytes[i % len] : 0xff;
		val[i] &= mask[i];
	}
	require(srnic_frame_matches(&frame->f, &match));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t len = size < SRNIC_FRAME_PEEK ? size : SRNIC_FRAME_PEEK;
	const u8 l4 = SRNIC_HAS_TCP | SRNIC_HAS_UDP;
	const u8 ip = SRNIC_HAS_IPV4 | SRNIC_HAS_IPV6;
	struct srnic_frame frame;
	u8 *copy;

	copy = malloc(len);
	memcpy(copy, data, len);
	if (!srnic_frame_parse(&frame, copy, len)) {
		require(len < SRNIC_FRAME_MIN);
		free(copy);
		return 0;
	}

	require(!memcmp(frame.f.dmac, copy, 6));
	require(!frame.l3 == !(frame.f.has & ip));
	require(!frame.l4 == !(frame.f.has & l4));
	require((frame.f.has & ip) != ip && (frame.f.has & l4) != l4);
	require(!frame.l4 || (frame.l3 && frame.l4 + 8u <= len));
	check_match(&frame, data, size);
	check_hash(&frame);
	free(copy);

	return 0;
}
