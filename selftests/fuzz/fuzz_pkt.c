// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the packet parser reads only the packet; building a parsed packet
 * results in the same packet
 *
 * The first byte of the input determines how much of the packet is not linear.  If it is the
 * largest, the packet is linear, has no payload, and masks have their identifier: chance finds
 * neither the length nor the identifier soon.
 */

#include <stdlib.h>
#include <string.h>

#include "wire/pkt.h"

#define MAX_BYTES	1024	/* as in run.sh */

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

/* Makes @packet one without payload, if its @len bytes suffice.  Return: its length. */
static unsigned int make_bare(u8 *packet, unsigned int len)
{
	static const u8 masks[] = { 0x73, 0x52, 0x4e, 0x4d, 1 };
	unsigned int hdr_len = len ? srnic_ops[packet[0]].hdr_len : 0;

	if (!hdr_len || len < hdr_len + SRNIC_ICRC_BYTES)
		return len;
	packet[1] &= ~(SRNIC_BTH_TVER_MASK | SRNIC_BTH_PAD_MASK);
	if (srnic_ops[packet[0]].hdrs & SRNIC_H_MASKS)
		memcpy(packet + sizeof(struct srnic_bth), masks, sizeof(masks));

	return hdr_len + SRNIC_ICRC_BYTES;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 bytes[MAX_BYTES];
	enum srnic_parse verdict;
	struct srnic_pkt pkt;
	unsigned int linear;
	unsigned int len;
	u8 *packet;

	if (!size || size > sizeof(bytes))
		return 0;
	len = size - 1;
	memcpy(bytes, data + 1, len);
	linear = data[0] < len ? len - data[0] : 0;
	if (data[0] == U8_MAX) {
		len = make_bare(bytes, len);
		linear = len;
	}

	packet = malloc(linear);
	memcpy(packet, bytes, linear);
	memset(&pkt, 0, sizeof(pkt));
	verdict = srnic_pkt_parse(packet, linear, len, &pkt);
	free(packet);
	if (verdict != SRNIC_PARSE_OK)
		return 0;

	require(pkt.hdr_len <= linear && pkt.hdr_len <= SRNIC_HDR_MAX);
	require(pkt.pad <= 3);
	require(pkt.hdr_len + pkt.payload + pkt.pad + SRNIC_ICRC_BYTES == len);
	require(pkt.qpn <= SRNIC_QPN_MASK && pkt.psn <= SRNIC_QPN_MASK);
	build_again(bytes, len, &pkt);

	return 0;
}
