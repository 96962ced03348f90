/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - receive side scaling: a hash over addresses and ports of a frame
 *
 * The function is Toeplitz as in Microsoft's "RSS hashing functions"; the input
 * consists of the selected fields among source address, destination address, source
 * port and destination port, in that order.
 */
#ifndef SRNIC_WIRE_RSS_H
#define SRNIC_WIRE_RSS_H

#include "frame.h"

#define SRNIC_RSS_KEY_BYTES	40

/* Fields to hash, numbered as in enum ibv_rx_hash_fields */
enum {
	SRNIC_RSS_SRC_IPV4	= 1 << 0,
	SRNIC_RSS_DST_IPV4	= 1 << 1,
	SRNIC_RSS_SRC_IPV6	= 1 << 2,
	SRNIC_RSS_DST_IPV6	= 1 << 3,
	SRNIC_RSS_SRC_TCP	= 1 << 4,
	SRNIC_RSS_DST_TCP	= 1 << 5,
	SRNIC_RSS_SRC_UDP	= 1 << 6,
	SRNIC_RSS_DST_UDP	= 1 << 7,
	SRNIC_RSS_ALL		= (1 << 8) - 1,
};

/**
 * struct srnic_rss_conf - RSS parameters of a receiver
 * @fields: SRNIC_RSS_*
 * @key: hash key
 */
struct srnic_rss_conf {
	__u32	fields;
	__u8	key[SRNIC_RSS_KEY_BYTES];
};

/* Toeplitz hash of @len bytes, at most SRNIC_RSS_KEY_BYTES - 4. */
__u32 srnic_toeplitz(const __u8 *key, const __u8 *data, unsigned int len);

/* Hash of the selected fields that the frame has; 0 if it has none of them. */
__u32 srnic_rss_hash(const struct srnic_rss_conf *conf,
		     const struct srnic_fields *f);

#endif /* SRNIC_WIRE_RSS_H */
