// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - drill: the peer's end of the wire
 *
 * The peer is a netdev without an RDMA device and without an address.  Packets
 * that arrive there are read from a packet socket, and injected packets are
 * written to it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "drill.h"

#define TURN_MS		10	/* maximum time of one poll() for a packet */

#define UDP_PROTO	17
#define QUEUE		64	/* maximum number of frames that are sent together */

static int sock = -1;
static FILE *log_file;
static __u8 mac_peer[6], mac_dev[6];
static int home_ns = -1;

static struct {
	__u8	frame[MAX_FRAME + 100];
	size_t	len;
} queue[QUEUE];
static unsigned int queued;
bool wire_sacks;
static struct packet returned;	/* by wire_return(); .us is 0 if there is none */

__u64 now_us(void)
{
	struct timespec ts;

	/* the clock used for time stamps of packets */
	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

/* ---- namespaces ---- */

void ns_enter(const char *name)
{
	char path[128];
	int fd;

	if (home_ns < 0)
		home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (!name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		perror(path);
	close(fd);
}

void ns_leave(void)
{
	if (setns(home_ns, CLONE_NEWNET))
		perror("drill: setns");
}

/* ---- opening ---- */

static int mac_of(const char *dev, const char *ns, __u8 *mac)
{
	struct ifreq req = {};
	int fd, err;

	snprintf(req.ifr_name, IFNAMSIZ, "%s", dev);
	ns_enter(ns);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = ioctl(fd, SIOCGIFHWADDR, &req);
	close(fd);
	ns_leave();
	memcpy(mac, req.ifr_hwaddr.sa_data, 6);
	return err;
}

int wire_open(const char *peer, const char *peer_ns, const char *dev,
	      const char *dev_ns)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	int on = 1, bytes = 4 << 20, err;

	if (mac_of(peer, peer_ns, mac_peer) || mac_of(dev, dev_ns, mac_dev))
		return -ENODEV;
	ns_enter(peer_ns);
	at.sll_ifindex = if_nametoindex(peer);
	sock = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(sock, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	setsockopt(sock, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	err = bind(sock, (struct sockaddr *)&at, sizeof(at));
	ns_leave();
	return err ? -errno : 0;
}

void wire_log(const char *file)
{
	static const __u32 head[] = { 0xa1b2c3d4, 0x00040002, 0, 0, 0x10000, 1 };

	log_file = fopen(file, "w");
	if (log_file)
		fwrite(head, sizeof(head), 1, log_file);
	else
		perror(file);
}

static void log_frame(const void *frame, size_t len, __u64 us)
{
	__u32 head[4] = { us / 1000000, us % 1000000, len, len };

	if (!log_file)
		return;
	fwrite(head, sizeof(head), 1, log_file);
	fwrite(frame, len, 1, log_file);
	fflush(log_file);
}

/* ---- sending ---- */

/* RFC 1071 */
static __u16 checksum(const __u8 *p, int len)
{
	__u32 sum = 0;
	int i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Returns the length of the header. */
static int put_ip(const struct packet *p, __u8 *ip, int len)
{
	if (p->ip == 4) {
		ip[0] = 0x45;
		ip[1] = p->tos;
		put_be16(ip + 2, 20 + len);
		put_be16(ip + 4, 1);
		put_be16(ip + 6, p->df ? 0x4000 : 0);
		ip[8] = p->ttl;
		ip[9] = UDP_PROTO;
		memcpy(ip + 12, p->src, 4);
		memcpy(ip + 16, p->dst, 4);
		put_be16(ip + 10, checksum(ip, 20));
		return 20;
	}
	put_be32(ip, 6U << 28 | p->tos << 20);
	put_be16(ip + 4, len);
	ip[6] = UDP_PROTO;
	ip[7] = p->ttl;
	memcpy(ip + 8, p->src, 16);
	memcpy(ip + 24, p->dst, 16);
	return 40;
}

void wire_queue(struct packet *p)
{
	__u8 *frame, *ip, *udp, *t;
	int len = 8 + p->len + 4;
	__u32 crc;

	if (queued == QUEUE)
		wire_flush();
	frame = memset(queue[queued].frame, 0, sizeof(queue[queued].frame));
	ip = frame + 14;
	memcpy(frame, mac_dev, 6);
	memcpy(frame + 6, mac_peer, 6);
	put_be16(frame + 12, p->ip == 4 ? ETH_P_IP : ETH_P_IPV6);
	udp = ip + put_ip(p, ip, len);
	put_be16(udp, p->sport);
	put_be16(udp + 2, p->dport);
	put_be16(udp + 4, len);
	t = udp + 8;
	memcpy(t, p->t, p->len);
	crc = roce_icrc(p->ip, ip, udp, t, p->len) ^ p->bad_icrc;
	t += p->len;
	t[0] = crc;
	t[1] = crc >> 8;
	t[2] = crc >> 16;
	t[3] = crc >> 24;
	queue[queued++].len = t + 4 - frame;
	p->us = now_us();
	log_frame(frame, t + 4 - frame, p->us);
}

void wire_flush(void)
{
	struct mmsghdr msgs[QUEUE] = {};
	struct iovec iovs[QUEUE];
	unsigned int i, n = queued;

	for (i = 0; i < n; i++) {
		iovs[i].iov_base = queue[i].frame;
		iovs[i].iov_len = queue[i].len;
		msgs[i].msg_hdr.msg_iov = &iovs[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	queued = 0;
	if (n && !dry && sendmmsg(sock, msgs, n, 0) != (int)n)
		fail("not all frames can be sent: %s", strerror(errno));
}

void wire_forget(void)
{
	queued = 0;
}

/* ---- receiving ---- */

/* Reads a RoCEv2 packet from a frame; returns false for other frames. */
static bool frame_read(const __u8 *frame, int len, struct packet *p)
{
	const __u8 *ip = frame + 14, *udp, *t;
	int type = get_be16(frame + 12), room;
	__u32 crc, seen;

	memset(p, 0, sizeof(*p));
	p->ip = type == ETH_P_IP ? 4 : 6;
	if (len < 14 + 20 + 8 || (type != ETH_P_IP && type != ETH_P_IPV6))
		return false;
	udp = ip + (p->ip == 4 ? 20 : 40);
	if ((p->ip == 4 ? ip[9] : ip[6]) != UDP_PROTO ||
	    frame + len < udp + 8 + BTH_BYTES + 4 ||
	    get_be16(udp + 2) != ROCE_PORT)
		return false;
	p->tos = p->ip == 4 ? ip[1] : get_be16(ip) >> 4;
	p->ttl = p->ip == 4 ? ip[8] : ip[7];
	p->df = p->ip == 4 && ip[6] & 0x40;
	memcpy(p->src, p->ip == 4 ? ip + 12 : ip + 8, p->ip == 4 ? 4 : 16);
	memcpy(p->dst, p->ip == 4 ? ip + 16 : ip + 24, p->ip == 4 ? 4 : 16);
	p->sport = get_be16(udp);
	p->dport = ROCE_PORT;
	t = udp + 8;
	p->len = get_be16(udp + 4) - 8;
	room = frame + len - t;
	if (p->len > room || p->len < BTH_BYTES + 4 || p->len > MAX_FRAME)
		return false;
	memcpy(p->t, t, p->len);
	if (opcode_parts(t[0]))
		p->payload = p->len - 4 - opcode_bytes(t[0]) - (t[1] >> 4 & 3);
	seen = t[p->len - 4] | t[p->len - 3] << 8 | t[p->len - 2] << 16 |
	       (__u32)t[p->len - 1] << 24;
	crc = roce_icrc(p->ip, ip, udp, t, p->len - 4);
	p->bad_icrc = crc != seen;
	return true;
}

static __u64 stamp_of(struct msghdr *msg)
{
	struct cmsghdr *c;
	struct timespec ts;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
	}
	return now_us();
}

/*
 * Reads a packet for the script.  SACKs are srnic's own: a peer that does not know them drops
 * them, as packets of another service.
 */
static bool frame_take(const __u8 *frame, int len, struct msghdr *msg, struct packet *p)
{
	if (!frame_read(frame, len, p))
		return false;
	p->us = stamp_of(msg);
	log_frame(frame, len, p->us);
	return wire_sacks || p->t[BTH_OPCODE] != OPCODE_SACK;
}

/* Receives one frame, if there is one. */
static bool frame_receive(struct packet *p)
{
	static __u8 frame[65536];
	char control[128];
	struct iovec iov = { frame, sizeof(frame) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
	};
	ssize_t len;

	do {
		msg.msg_controllen = sizeof(control);
		len = recvmsg(sock, &msg, 0);
		if (len < 0)
			return false;
	} while (!frame_take(frame, len, &msg, p));
	return true;
}

bool wire_receive(struct packet *p, __u64 us)
{
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	__u64 end = now_us() + us, now, turn;

	if (returned.us) {
		*p = returned;
		returned.us = 0;
		return true;
	}
	while (!frame_receive(p)) {
		now = now_us();
		if (now >= end)
			return false;
		turn = (end - now + 999) / 1000;
		if (turn > TURN_MS)
			turn = TURN_MS;
		poll(&fd, 1, turn);
		tick(turn * 1000);
	}
	return true;
}

void wire_return(const struct packet *p)
{
	returned = *p;
}

void wire_drain(void)
{
	struct packet p;

	returned.us = 0;
	while (frame_receive(&p))
		;
}
