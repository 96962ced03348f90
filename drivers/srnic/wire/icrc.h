/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the invariant CRC of RoCEv2
 *
 * CRC-32 over the packet from the IP header to the end of the pad, preceded by
 * eight bytes of ones in place of the LRH, with all fields that a router may change
 * replaced by ones: IBTA volume 1 annex A17.3.1 and chapter 7.8.1.
 *
 *	crc = srnic_icrc_ipv4(ip, ...)		IP, UDP and BTH
 *	crc = crc32_le(crc, behind the BTH)	extended headers, payload, pad
 *	trailer = srnic_icrc_end(crc)
 */
#ifndef SRNIC_WIRE_ICRC_H
#define SRNIC_WIRE_ICRC_H

#include <asm/byteorder.h>
#include <linux/types.h>

#define SRNIC_ICRC_HDR4		(20 + 8 + 12)
#define SRNIC_ICRC_HDR6		(40 + 8 + 12)

/* CRC of eight bytes of ones, in place of the LRH, from a state of all ones */
#define SRNIC_ICRC_SEED	0xdebb20e3U

/*
 * Copy the headers to @hdr, with ones in place of what routers may change.  Parameters: as
 * srnic_icrc_ipv4() and srnic_icrc_ipv6()
 */
void srnic_icrc_mask_ipv4(__u8 *hdr, const void *ip, __u16 tot_len, __u16 udp_len);
void srnic_icrc_mask_ipv6(__u8 *hdr, const void *ip, __u16 payload_len, __u16 udp_len);

/*
 * Intermediate CRC of the contiguous IP, UDP and BTH headers at @ip,
 * SRNIC_ICRC_HDR4 (no IP options) or SRNIC_ICRC_HDR6 bytes.  @tot_len or
 * @payload_len and @udp_len replace the lengths in the headers, which in the head
 * of a GSO chain are those of the chain.
 */
__u32 srnic_icrc_ipv4(const void *ip, __u16 tot_len, __u16 udp_len);
__u32 srnic_icrc_ipv6(const void *ip, __u16 payload_len, __u16 udp_len);

/* The ICRC trailer in wire format. */
static inline __le32 srnic_icrc_end(__u32 crc)
{
	return (__le32 __force)__cpu_to_le32(~crc);
}

#endif /* SRNIC_WIRE_ICRC_H */
