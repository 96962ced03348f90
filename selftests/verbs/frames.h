/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: Ethernet frames, and hosts that use packet
 * sockets only
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <arpa/inet.h>

#include "vrb.h"

#define FRAME_MAX	8192
#define ETH_EXP		0x88b5		/* Local Experimental EtherType 1 */
#define NO_TAG		(-1)

/* A frame to be built; frame_default is UDP over IPv4 from host 0 to host 1. */
struct frame {
	__u8		dmac[6];
	__u8		smac[6];
	int		tag;		/* TCI, or NO_TAG */
	int		tag2;		/* TCI of the outer tag, or NO_TAG */
	__u16		type;		/* if ip is 0 */
	int		ip;		/* 4, 6 or 0 */
	const char	*saddr;
	const char	*daddr;
	__u8		tos;
	__u8		ttl;
	__u16		frag;		/* IPv4 flags and offset */
	__u32		label;
	__u8		proto;		/* IPPROTO_TCP, IPPROTO_UDP or another */
	__u16		sport;
	__u16		dport;
	int		payload;	/* bytes */
	__u32		seed;		/* of the payload */
	bool		no_sums;	/* leave checksums 0 */
};

struct frame frame_default(void);
/* A frame without a protocol header */
struct frame frame_plain(__u32 seed, int payload);
/* Writes the frame to @to; returns its length. */
size_t frame_make(const struct frame *f, __u8 *to);
/* Adds @len bytes to @sum, an Internet checksum (RFC 1071) of an even number of bytes. */
__u32 frame_sum(__u32 sum, const __u8 *p, size_t len);
__u16 frame_sum_end(__u32 sum);
/* The TCP or UDP checksum of @len bytes; 0 if they contain a correct checksum. */
__u16 frame_l4_sum(const __u8 *ip, const __u8 *l4, size_t len);

/* Address and MTU of a side's netdev */
void mac_of(const struct side *s, __u8 *mac);
int mtu_of_link(const struct side *s);

/* A packet socket on the netdev of @s for frames of @type; closed when the case ends */
int sock_frames(const struct side *s, __u16 type);
/* A UDP socket of @s bound to @port */
int sock_udp(const struct side *s, __u16 port);
void sock_send(int fd, const void *data, size_t len);
/* Waits for data; returns its length, -1 on timeout. */
ssize_t sock_recv(int fd, void *data, size_t len, int ms);

/* A flow to be created: consecutive specs in the format of ibv_create_flow() */
struct rule {
	struct ibv_flow_attr	attr;
	__u8			specs[480];
};

struct rule rule_of(enum ibv_flow_attr_type type, int priority, __u32 flags);
void rule_add(struct rule *r, const void *spec, size_t size);
/* Matches frames of @type. */
struct rule rule_type(int priority, __u16 type);
/* Matches UDP over IPv4 to @port. */
struct rule rule_udp(int priority, __u16 port, __u32 flags);
struct ibv_flow *flow_make(struct ibv_qp *qp, struct rule *r);
/* The flow cannot be created: errno is @err. */
void flow_refused(struct ibv_qp *qp, struct rule *r, int err);

#define TAKER_SLOT	8192
#define TAKER_SLOTS	32

/* A raw packet queue pair with receives posted, and what it has received */
struct taker {
	struct end	e;
	struct mem	m;
	__u64		next;
};

void raw_make(struct end *e, struct side *s, const struct opt *o);
struct opt raw_opt(void);
void raw_send(struct end *e, struct ibv_sge *sge, int n, int flags);
void taker_make(struct taker *t, struct side *s, const struct opt *o);
/* The next received frame is @frame. */
struct ibv_wc took(struct taker *t, const __u8 *frame, size_t len);
void took_nothing(struct taker *t);

/* Sends @f from the other host; a copy of what was sent is at @frame. */
size_t sock_frame(int fd, const struct frame *f, __u8 *frame);

#endif
