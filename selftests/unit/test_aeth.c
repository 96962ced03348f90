// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - RNR times, timeouts and syndromes match the specification
 *
 * The times are kept here in hundredths of a millisecond, as in the table of
 * the specification.
 */

#include "tap.h"
#include "wire/aeth.h"

static const u32 rnr_msec_100[32] = {
	65536,
	1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
	384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
	12288, 16384, 24576, 32768, 49152,
};

static void test_rnr(void)
{
	unsigned int code;

	for (code = 0; code < 32; code++)
		if (srnic_rnr_usec(code) != rnr_msec_100[code] * 10)
			tap_fault("code %u gave %u us", code, srnic_rnr_usec(code));
	tap_done("RNR timer codes");

	for (code = 32; code < 256; code++)
		if (srnic_rnr_usec(code) != srnic_rnr_usec(code % 32))
			tap_fault("syndrome 0x%x gave %u us", code,
				  srnic_rnr_usec(code));
	tap_done("the RNR time does not depend on the upper bits of the syndrome");
}

static void test_timeout(void)
{
	u64 nsec = 4096 * 2;
	unsigned int exp;

	tap_check(srnic_ack_timeout_nsec(0) == 0, "timeout 0 is infinite");
	for (exp = 1; exp < 32; exp++, nsec *= 2)
		if (srnic_ack_timeout_nsec(exp) != nsec)
			tap_fault("exponent %u gave %llu ns", exp,
				  srnic_ack_timeout_nsec(exp));
	tap_done("timeouts are 4.096 us times a power of two");
	tap_check(srnic_ack_timeout_nsec(31) / 1000000000 == 8796,
		  "the longest timeout is 2.4 hours");
}

static void test_syndromes(void)
{
	tap_check(SRNIC_AETH_KIND(0x1f) == SRNIC_AETH_ACK &&
		  SRNIC_AETH_KIND(0x3f) == SRNIC_AETH_RNR &&
		  SRNIC_AETH_KIND(0x64) == SRNIC_AETH_NAK,
		  "kinds of syndromes");
	tap_check(SRNIC_AETH_NO_CREDITS == 31, "code 31 reports no credits");
	tap_check(SRNIC_AETH_NAK_SEQ == 0x60 && SRNIC_AETH_NAK_INV_REQ == 0x61 &&
		  SRNIC_AETH_NAK_REM_ACC == 0x62 &&
		  SRNIC_AETH_NAK_REM_OP == 0x63 && SRNIC_AETH_NAK_INV_RD == 0x64,
		  "codes of negative acknowledgments");
}

/*
 * The table of AETH syndromes and that of NAK codes, from bit 7 on: 000 ACK, 001
 * RNR NAK, 011 NAK with codes 0 to 4; bit 7 is 0, all else is reserved.
 */
static enum srnic_ack said(unsigned int syndrome)
{
	unsigned int kind = syndrome / 32, code = syndrome % 32;

	if (kind == 0)
		return SRNIC_ACK_OK;
	if (kind == 1)
		return SRNIC_ACK_RNR;
	if (kind == 3 && code == 0)
		return SRNIC_ACK_SEQ;
	if (kind == 3 && code <= 4)
		return SRNIC_ACK_FATAL;

	return SRNIC_ACK_RESERVED;
}

static void test_all_syndromes(void)
{
	unsigned int syndrome;

	for (syndrome = 0; syndrome < 256; syndrome++)
		if (srnic_ack_of(syndrome) != said(syndrome))
			tap_fault("syndrome 0x%02x is %u, not %u", syndrome,
				  srnic_ack_of(syndrome), said(syndrome));
	tap_done("each of the 256 syndromes");
}

int main(void)
{
	test_rnr();
	test_timeout();
	test_syndromes();
	test_all_syndromes();

	return tap_end();
}
