// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the payload of a SACK packet is read and written as wire.rst describes it
 *
 * Packets are written by hand, byte by byte, and lie in heap buffers of exactly their size,
 * so that the address sanitizer detects reads and writes beyond it.
 */

#include <stdlib.h>
#include <string.h>

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"
#include "wire/sack_hdr.h"

#define ROUNDS	20000

/* PSN 1000, two ranges: 1002 to 1004 and 1010; the last PSN seen is 1012 */
static const u8 two_ranges[] = {
	0x73, 0x52, 0x4e, 0x53, 0x01, 0x01, 0x02, 0x6a, 0x00, 0x00, 0x03, 0xf4,
	0x00, 0x00, 0x03, 0xea, 0x00, 0x00, 0x00, 0x03,
	0x00, 0x00, 0x03, 0xf2, 0x00, 0x00, 0x00, 0x01,
};

/* An answer: no ranges, and nothing seen behind PSN 0 */
static const u8 answer[] = {
	0x73, 0x52, 0x4e, 0x53, 0x01, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
};

static enum srnic_sack_parse parse_exact(const void *data, unsigned int len, u32 psn,
					 struct srnic_sack_hdr *hdr)
{
	enum srnic_sack_parse verdict;
	u8 *copy = malloc(len);

	memcpy(copy, data, len);
	memset(hdr, 0, sizeof(*hdr));
	verdict = srnic_sack_parse(copy, len, psn, hdr);
	free(copy);

	return verdict;
}

static bool builds(const struct srnic_sack_hdr *hdr, const u8 *data, unsigned int len)
{
	u8 *copy = malloc(len);
	bool same;

	same = srnic_sack_bytes(hdr->num) == len && srnic_sack_build(copy, hdr) == len &&
	       !memcmp(copy, data, len);
	free(copy);

	return same;
}

static void test_by_hand(void)
{
	struct srnic_sack_hdr hdr;

	tap_check(!parse_exact(two_ranges, sizeof(two_ranges), 1000, &hdr) &&
		  hdr.wants_reply && hdr.num == 2 && hdr.seen == 1013 &&
		  hdr.range[0].psn == 1002 && hdr.range[0].npsn == 3 &&
		  hdr.range[1].psn == 1010 && hdr.range[1].npsn == 1,
		  "two ranges");
	tap_check(builds(&hdr, two_ranges, sizeof(two_ranges)),
		  "the same bytes are built");
	tap_check(!parse_exact(answer, sizeof(answer), 0, &hdr) && !hdr.wants_reply &&
		  !hdr.num && hdr.seen == 0,
		  "an answer, where PSNs wrap around");
	tap_check(builds(&hdr, answer, sizeof(answer)), "the same bytes are built");
}

static void put_be32(u8 *p, u32 value)
{
	p[0] = value >> 24;
	p[1] = value >> 16;
	p[2] = value >> 8;
	p[3] = value;
}

/* Two ranges behind PSN 1000, with the word at @off replaced by @value */
static enum srnic_sack_parse parse_word(unsigned int off, u32 value)
{
	struct srnic_sack_hdr hdr;
	u8 data[sizeof(two_ranges)];

	memcpy(data, two_ranges, sizeof(data));
	put_be32(data + off, value);

	return parse_exact(data, sizeof(data), 1000, &hdr);
}

#define HEAD	4	/* version, flags, number, pace */
#define LAST	8
#define FIRST	12	/* of the first range, */
#define NUMBER	16
#define SECOND	20	/* and of the second */
#define AMOUNT	24

static const struct {
	unsigned int		off;
	u32			value;
	enum srnic_sack_parse	verdict;
	const char		*name;
} words[] = {
	{ 0, 0x73524e54, SRNIC_SACK_MAGIC, "another identifier" },
	{ HEAD, 0x00010200, SRNIC_SACK_VERSION, "version 0" },
	{ HEAD, 0x02010200, SRNIC_SACK_VERSION, "version 2" },
	{ HEAD, 0x01ff0200, SRNIC_SACK_OK, "reserved bits are ignored" },
	{ HEAD, 0x010102ff, SRNIC_SACK_OK, "the slowest pace" },
	{ HEAD, 0x01010100, SRNIC_SACK_LENGTH, "longer than its ranges" },
	{ HEAD, 0x01010300, SRNIC_SACK_LENGTH, "shorter than its ranges" },
	{ HEAD, 0x01012100, SRNIC_SACK_COUNT, "33 ranges" },
	{ HEAD, 0x0101ff00, SRNIC_SACK_COUNT, "255 ranges" },
	{ LAST, 1010, SRNIC_SACK_OK, "nothing seen behind the last range" },
	{ LAST, 1009, SRNIC_SACK_SEEN, "the last range has not been seen" },
	{ LAST, 999, SRNIC_SACK_SEEN, "nothing has been seen" },
	{ LAST, 1000 + 16383, SRNIC_SACK_OK, "the last PSN of the span seen" },
	{ LAST, 1000 + 16384, SRNIC_SACK_SEEN, "one behind the span seen" },
	{ LAST, 0x010003f4, SRNIC_SACK_SEEN, "25 bits seen" },
	{ FIRST, 1001, SRNIC_SACK_OK, "behind the PSN of the packet" },
	{ FIRST, 1000, SRNIC_SACK_RANGE, "from the PSN of the packet on" },
	{ FIRST, 999, SRNIC_SACK_RANGE, "before the PSN of the packet" },
	{ FIRST, 0x010003ea, SRNIC_SACK_RANGE, "25 bits" },
	{ FIRST, 0x800000 + 1000, SRNIC_SACK_RANGE, "half the PSN space away" },
	{ FIRST, 1010, SRNIC_SACK_RANGE, "not ascending" },
	{ NUMBER, 0, SRNIC_SACK_RANGE, "an empty range" },
	{ NUMBER, 7, SRNIC_SACK_OK, "one PSN between ranges" },
	{ NUMBER, 8, SRNIC_SACK_RANGE, "ranges that touch" },
	{ NUMBER, 9, SRNIC_SACK_RANGE, "ranges that overlap" },
	{ NUMBER, 0xffffffff, SRNIC_SACK_RANGE, "2^32 - 1 PSNs" },
	{ SECOND, 1000 + 16383, SRNIC_SACK_SEEN, "at the end of the span, but not seen" },
	{ SECOND, 1000 + 16384, SRNIC_SACK_RANGE, "behind the span" },
	{ AMOUNT, 3, SRNIC_SACK_OK, "up to what was seen" },
	{ AMOUNT, 4, SRNIC_SACK_SEEN, "up to behind what was seen" },
	{ AMOUNT, 16384, SRNIC_SACK_RANGE, "beyond the span" },
};

static void test_words(void)
{
	enum srnic_sack_parse verdict;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		verdict = parse_word(words[i].off, words[i].value);
		tap_point(verdict == words[i].verdict, NULL, NULL, "%s: verdict %u",
			  words[i].name, verdict);
	}
}

static void test_lengths(void)
{
	struct srnic_sack_hdr hdr;
	unsigned int len;

	for (len = 0; len < sizeof(two_ranges); len++)
		if (parse_exact(two_ranges, len, 1000, &hdr) != SRNIC_SACK_LENGTH)
			tap_fault("%u bytes", len);
	tap_done("truncated anywhere");
}

/* Up to SRNIC_SACK_MAX ranges behind @psn */
static void hdr_random(struct srnic_sack_hdr *hdr, u32 psn)
{
	u32 at = 0;

	memset(hdr, 0, sizeof(*hdr));
	hdr->wants_reply = rand32() & 1;
	hdr->pace = rand32();
	while (hdr->num < SRNIC_SACK_MAX && rand32() % 16) {
		struct srnic_sack_range *range = &hdr->range[hdr->num++];

		at += 1 + rand32() % 256;
		range->psn = srnic_psn_add(psn, at);
		range->npsn = 1 + rand32() % 256;
		at += range->npsn;
	}
	hdr->seen = srnic_psn_add(psn, at + rand32() % (SRNIC_SACK_SPAN + 1 - at));
}

static void test_random(void)
{
	struct srnic_sack_hdr hdr, back;
	u8 data[SRNIC_SACK_BYTES_MAX];
	unsigned int i, len;
	u32 psn;

	for (i = 0; i < ROUNDS; i++) {
		psn = rand32() & SRNIC_PSN_MASK;
		hdr_random(&hdr, psn);
		len = srnic_sack_build(data, &hdr);
		if (parse_exact(data, len, psn, &back) ||
		    memcmp(&hdr, &back, sizeof(hdr)))
			tap_fault("round %u, PSN %u, %u ranges", i, psn, hdr.num);
	}
	tap_done("what is built is read, at any PSN");
}

/* (8 + lower three bits) << (upper five bits), as Documentation/wire.rst says */
static void test_pace(void)
{
	struct srnic_sack_hdr hdr;
	__u64 nsec;
	int i;

	tap_check(srnic_sack_pace_nsec(1) == 9 && srnic_sack_pace_nsec(7) == 15 &&
		  srnic_sack_pace_nsec(8) == 16 && srnic_sack_pace_nsec(0x6a) == 81920 &&
		  srnic_sack_pace_nsec(255) == 15ULL << 31, "a pace by hand");
	for (i = 1; i < 256; i++)
		if (srnic_sack_pace_of(srnic_sack_pace_nsec(i)) != i)
			tap_fault("pace %d", i);
	for (nsec = 9; nsec < 15ULL << 31; nsec += 1 + nsec / 100) {
		i = srnic_sack_pace_of(nsec);
		if (srnic_sack_pace_nsec(i) > nsec || srnic_sack_pace_nsec(i + 1) <= nsec)
			tap_fault("%llu ns", (unsigned long long)nsec);
	}
	tap_done("each pace and each time, rounded to what is not slower");
	tap_check(srnic_sack_pace_of(0) == 1 && srnic_sack_pace_of(~0ULL) == 255,
		  "the fastest and the slowest");
	parse_exact(two_ranges, sizeof(two_ranges), 1000, &hdr);
	tap_check(hdr.pace == 0x6a, "the pace of a packet");
}

int main(void)
{
	test_by_hand();
	test_pace();
	test_words();
	test_lengths();
	test_random();

	return tap_end();
}
