// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the parser of SACK packets reads only the payload; its ranges are in order and
 * within the span; building what was parsed results in the same packet
 *
 * The first three bytes of the input are the PSN of the packet.
 */

#include <stdlib.h>
#include <string.h>

#include "wire/psn.h"
#include "wire/sack_hdr.h"

#define require(what)			\
	do {				\
		if (!(what))		\
			abort();	\
	} while (0)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void check_ranges(const struct srnic_sack_hdr *hdr, u32 psn)
{
	u32 at = 0, first, seen = (hdr->seen - psn) & SRNIC_PSN_MASK;
	unsigned int i;

	require(hdr->num <= SRNIC_SACK_MAX);
	for (i = 0; i < hdr->num; i++) {
		require(hdr->range[i].psn <= SRNIC_PSN_MASK);
		first = (hdr->range[i].psn - psn) & SRNIC_PSN_MASK;
		require(first > at && hdr->range[i].npsn);
		at = first + hdr->range[i].npsn;
		require(at > first && at <= SRNIC_SACK_SPAN);
	}
	require(seen >= at && seen <= SRNIC_SACK_SPAN);
}

static void build_again(const struct srnic_sack_hdr *hdr, u32 psn, unsigned int len)
{
	struct srnic_sack_hdr back;
	u8 *copy = malloc(len);

	require(srnic_sack_build(copy, hdr) == len);
	memset(&back, 0, sizeof(back));
	require(srnic_sack_parse(copy, len, psn, &back) == SRNIC_SACK_OK);
	require(!memcmp(hdr, &back, sizeof(back)));
	free(copy);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	enum srnic_sack_parse verdict;
	struct srnic_sack_hdr hdr;
	unsigned int len;
	u8 *payload;
	u32 psn;

	if (size < 3)
		return 0;
	psn = data[0] << 16 | data[1] << 8 | data[2];
	len = size - 3;

	payload = malloc(len);
	memcpy(payload, data + 3, len);
	memset(&hdr, 0, sizeof(hdr));
	verdict = srnic_sack_parse(payload, len, psn, &hdr);
	free(payload);
	require(verdict < SRNIC_SACK_PARSE_NUM);
	if (verdict != SRNIC_SACK_OK)
		return 0;

	check_ranges(&hdr, psn);
	build_again(&hdr, psn, len);

	return 0;
}
