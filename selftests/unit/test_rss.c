// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the hash for receive side scaling is Microsoft's
 *
 * The vectors are those of "Verifying the RSS Hash Calculation" in the Windows
 * driver documentation, with the key given there.
 */
#include <arpa/inet.h>
#include <string.h>

#include "tap.h"
#include "wire/rss.h"

static const u8 key[SRNIC_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
	0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
	0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
	0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
	0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	int family;
	const char *daddr;
	u16 dport;
	const char *saddr;
	u16 sport;
	u32 ip;
	u32 tcp;
} vectors[] = {
	{ AF_INET, "161.142.100.80", 1766, "66.9.149.187", 2794,
	  0x323e8fc2, 0x51ccc178 },
	{ AF_INET, "65.69.140.83", 4739, "199.92.111.2", 14230,
	  0xd718262a, 0xc626b0ea },
	{ AF_INET, "12.22.207.184", 38024, "24.19.198.95", 12898,
	  0xd2d0a5de, 0x5c2b394a },
	{ AF_INET, "209.142.163.6", 2217, "38.27.205.30", 48228,
	  0x82989176, 0xafc7327f },
	{ AF_INET, "202.188.127.2", 1303, "153.39.163.191", 44251,
	  0x5d1809c5, 0x10e828a2 },
	{ AF_INET6, "3ffe:2501:200:3::1", 1766,
	  "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d },
	{ AF_INET6, "ff02::1", 4739,
	  "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf },
	{ AF_INET6, "fe80::200:f8ff:fe21:67cf", 38024,
	  "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251,
	  0x4b61e985, 0x02d1feef },
	{ }
};

static void fields_of(struct srnic_fields *f, unsigned int i, u8 l4)
{
	memset(f, 0, sizeof(*f));
	f->has = l4 | (vectors[i].family == AF_INET ? SRNIC_HAS_IPV4 :
						      SRNIC_HAS_IPV6);
	inet_pton(vectors[i].family, vectors[i].saddr, f->saddr);
	inet_pton(vectors[i].family, vectors[i].daddr, f->daddr);
	f->sport = htons(vectors[i].sport);
	f->dport = htons(vectors[i].dport);
}

static void hash_all(u32 fields, u8 l4, bool with_ports, const char *what)
{
	struct srnic_rss_conf conf = { .fields = fields };
	struct srnic_fields f;
	unsigned int i;
	u32 hash, want;

	memcpy(conf.key, key, sizeof(key));
	for (i = 0; vectors[i].saddr; i++) {
		fields_of(&f, i, l4);
		hash = srnic_rss_hash(&conf, &f);
		want = with_ports ? vectors[i].tcp : vectors[i].ip;
		if (hash != want)
			tap_fault("%s: %08x, not %08x", vectors[i].saddr, hash,
				  want);
	}
	tap_done(what);
}

#define ADDRS	(SRNIC_RSS_SRC_IPV4 | SRNIC_RSS_DST_IPV4 | \
		 SRNIC_RSS_SRC_IPV6 | SRNIC_RSS_DST_IPV6)
#define TCP	(SRNIC_RSS_SRC_TCP | SRNIC_RSS_DST_TCP)
#define UDP	(SRNIC_RSS_SRC_UDP | SRNIC_RSS_DST_UDP)

static void test_selection(void)
{
	struct srnic_rss_conf conf = { .fields = ADDRS | TCP };
	struct srnic_fields f = {};

	memcpy(conf.key, key, sizeof(key));
	tap_check(srnic_rss_hash(&conf, &f) == 0, "a frame without IP hashes to 0");

	/* The first four bytes of the input are hashed with the start of the key. */
	fields_of(&f, 0, SRNIC_HAS_TCP);
	conf.fields = SRNIC_RSS_SRC_IPV4;
	tap_check(srnic_rss_hash(&conf, &f) ==
		  srnic_toeplitz(key, f.saddr, 4), "source only");
	conf.fields = SRNIC_RSS_DST_IPV4;
	tap_check(srnic_rss_hash(&conf, &f) ==
		  srnic_toeplitz(key, f.daddr, 4), "destination only");
	conf.fields = SRNIC_RSS_DST_TCP;
	tap_check(srnic_rss_hash(&conf, &f) ==
		  srnic_toeplitz(key, (u8 *)&f.dport, 2), "a port only");
}

static void test_linear(void)
{
	u8 a[36], b[36], both[36];
	unsigned int i;

	for (i = 0; i < sizeof(a); i++) {
		a[i] = i * 37 + 11;
		b[i] = i * 101 + 3;
		both[i] = a[i] ^ b[i];
	}
	tap_check(srnic_toeplitz(key, both, sizeof(both)) ==
		  (srnic_toeplitz(key, a, sizeof(a)) ^
		   srnic_toeplitz(key, b, sizeof(b))), "the hash is linear");
	memset(a, 0, sizeof(a));
	tap_check(srnic_toeplitz(key, a, sizeof(a)) == 0, "zeros hash to 0");
	a[0] = 0x80;
	tap_check(srnic_toeplitz(key, a, sizeof(a)) == 0x6d5a56da,
		  "the first bit hashes to the first word of the key");
}

int main(void)
{
	hash_all(ADDRS, SRNIC_HAS_TCP, false, "addresses");
	hash_all(ADDRS | TCP, SRNIC_HAS_TCP, true, "addresses and TCP ports");
	hash_all(ADDRS | UDP, SRNIC_HAS_UDP, true, "addresses and UDP ports");
	hash_all(ADDRS | TCP, SRNIC_HAS_UDP, false,
		 "UDP ports with TCP hash fields");
	hash_all(ADDRS | TCP | UDP, 0, false, "a fragment has no ports");
	test_selection();
	test_linear();

	return tap_end();
}
