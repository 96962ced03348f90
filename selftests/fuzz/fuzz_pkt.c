// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the packet parser reads only the packet; building a parsed packet
 * results in the same packet
 *
 * The first byte of the input determines how much of the packet is not linear.
 */

#include <stdlib.h>
#include <string.h>

#include "wire/pkt.h"

#define require(what)			\
	do {				\
		if (!(what))		\
			abort();	\
	} while (0)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static bool pkt_equal(const struct srnic_pkt *a, const struct srnic_pkt *b)
{
	/* both were zero before the parser set their fields */
	return !memcmp(a, b, sizeof(*a));
}

/* Builds the parsed packet, followed by the unparsed rest of @packet. */
static void build_again(const u8 *packet, unsigned int len,
			const struct srnic_pkt *pkt)
{
	struct srnic_pkt back;
	unsigned int built;
	u8 *copy;

	/* first into a buffer of exactly the size of the headers */
	copy = malloc(pkt->hdr_len);
	built = srnic_pkt_build(copy, pkt);
	require(built == pkt->hdr_len);

	copy = realloc(copy, len);
	memcpy(copy + built, packet + built, len - built);
	memset(&back, 0, sizeof(back));
	require(srnic_pkt_parse(copy, len, len, &back) == SRNIC_PARSE_OK);
	require(pkt_equal(pkt, &back));
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	enum srnic_parse verdict;
	struct srnic_pkt pkt;
	unsigned int linear;
	unsigned int len;
	u8 *packet;

	if (!size)
		return 0;
	len = size - 1;
	linear = data[0] < len ? len - data[0] : 0;

	packet = malloc(linear);
	memcpy(packet, data + 1, linear);
	memset(&pkt, 0, sizeof(pkt));
	verdict = srnic_pkt_parse(packet, linear, len, &pkt);
	free(packet);
	if (verdict != SRNIC_PARSE_OK)
		return 0;

	require(pkt.hdr_len <= linear && pkt.hdr_len <= SRNIC_HDR_MAX);
	require(pkt.pad <= 3);
	require(pkt.hdr_len + pkt.payload + pkt.pad + SRNIC_ICRC_BYTES == len);
	require(pkt.qpn <= SRNIC_QPN_MASK && pkt.psn <= SRNIC_QPN_MASK);
	build_again(data + 1, len, &pkt);

	return 0;
}
