// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - ICRC of packets in hexadecimal
 *
 * Each line of input is a packet from the IP header to the end of the ICRC;
 * each line of output is the expected ICRC in wire order.
 */

#include <linux/crc32.h>
#include <stdio.h>
#include <string.h>

#include "wire/icrc.h"

#define PACKET_MAX	9216

static unsigned int read_hex(const char *line, u8 *packet)
{
	unsigned int len = 0;

	while (len < PACKET_MAX && sscanf(line, "%2hhx", &packet[len]) == 1) {
		line += 2;
		len++;
	}

	return len;
}

static unsigned int get_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

int main(void)
{
	static char line[2 * PACKET_MAX + 2];
	static u8 packet[PACKET_MAX];

	while (fgets(line, sizeof(line), stdin)) {
		unsigned int len = read_hex(line, packet);
		unsigned int hdr;
		__le32 trailer;
		u8 icrc[4];
		u32 crc;

		hdr = packet[0] >> 4 == 6 ? SRNIC_ICRC_HDR6 : SRNIC_ICRC_HDR4;
		if (len < hdr + sizeof(trailer)) {
			fprintf(stderr, "a packet of %u bytes\n", len);
			return 1;
		}
		if (hdr == SRNIC_ICRC_HDR6)
			crc = srnic_icrc_ipv6(packet, get_be16(packet + 4),
					      get_be16(packet + 44));
		else
			crc = srnic_icrc_ipv4(packet, get_be16(packet + 2),
					      get_be16(packet + 24));
		crc = crc32_le(crc, packet + hdr, len - hdr - sizeof(trailer));
		trailer = srnic_icrc_end(crc);
		memcpy(icrc, &trailer, sizeof(icrc));
		printf("%02x%02x%02x%02x\n", icrc[0], icrc[1], icrc[2], icrc[3]);
	}

	return 0;
}
