// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: the wire between the hosts
 *
 * With taps this program is the wire: it forwards the packets of both hosts.
 * What it writes is received in its own context, so that kcov covers the
 * driver.  Otherwise it captures and injects packets by packet sockets.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/kcov.h>

#include "../../verbs/frames.h"
#include "packets.h"

#define COVER_WORDS	0x40000
#define BLOCKS_MAX	0x10000
#define HELD_MAX	64
#define BATCH		32

__u8 wire_mac[2][6];
__u64 wire_packets;
__u32 wire_blocks;

static int wire_fd[2];		/* tap of that side, or socket that leads to it */
static bool wire_is_tap;
static FILE *wire_log;

/* Held packets of the hosts */
static struct {
	int	to;
	ssize_t	len;
	__u8	data[10 + 9100];
} held[HELD_MAX];
static int num_held;
static bool holding;

/* Packets to be sent by sockets */
static struct batch {
	int			num;
	struct mmsghdr		msg[BATCH];
	struct iovec		iov[BATCH];
	__u8			data[BATCH][FORGED_MAX + 10];
} batches[2];

/* ---- coverage ---- */

static unsigned long *cover;
static unsigned long blocks[BLOCKS_MAX];

static void cover_open(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	if (ioctl(fd, KCOV_INIT_TRACE, COVER_WORDS))
		return;
	cover = mmap(NULL, COVER_WORDS * sizeof(*cover), PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (cover == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		cover = NULL;
}

static void cover_begin(void)
{
	if (cover)
		__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
}

static void cover_block(unsigned long pc)
{
	unsigned long i = pc * 0x9e3779b97f4a7c15ULL >> 48;

	while (blocks[i] && blocks[i] != pc)
		i = (i + 1) % BLOCKS_MAX;
	if (blocks[i] || wire_blocks > BLOCKS_MAX / 2)
		return;
	blocks[i] = pc;
	wire_blocks++;
}

static void cover_end(void)
{
	unsigned long i, n;

	if (!cover)
		return;
	n = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < COVER_WORDS; i++)
		cover_block(cover[i]);
}

/* ---- capture of injected packets: HUNT_PCAP=FILE ---- */

static void log_open(void)
{
	static const __u32 head[] = { 0xa1b2c3d4, 0x00040002, 0, 0, 0x10000, 1 };
	const char *name = getenv("HUNT_PCAP");

	wire_log = name ? fopen(name, "w") : NULL;
	if (wire_log)
		fwrite(head, sizeof(head), 1, wire_log);
}

static void log_frame(const void *frame, size_t len)
{
	struct timespec now;
	__u32 head[4];

	if (!wire_log)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	head[0] = now.tv_sec;
	head[1] = now.tv_nsec / 1000;
	head[2] = len;
	head[3] = len;
	fwrite(head, sizeof(head), 1, wire_log);
	fwrite(frame, len, 1, wire_log);
	fflush(wire_log);
}

/* ---- opening ---- */

static int close_fd(void *thing)
{
	return close((int)(long)thing - 1);
}

static unsigned int netdev_of(const struct side *s, char *name)
{
	struct ibv_gid_entry gid;

	must_be(ibv_query_gid_ex(s->ctx, 1, s->gid_index, &gid, 0), 0);
	side_enter(s);
	if (!if_indextoname(gid.ndev_ifindex, name))
		name[0] = 0;
	side_leave(s);
	must(name[0]);
	return gid.ndev_ifindex;
}

static int tap_open(const struct side *s)
{
	struct ifreq req = {
		.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR,
	};
	int fd, err;

	netdev_of(s, req.ifr_name);
	side_enter(s);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	err = fd < 0 || ioctl(fd, TUNSETIFF, &req);
	side_leave(s);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int sock_open(const struct side *s)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	char name[IF_NAMESIZE];
	int fd, err, on = 1;

	at.sll_ifindex = netdev_of(s, name);
	side_enter(s);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	err = setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	      bind(fd, (struct sockaddr *)&at, sizeof(at));
	side_leave(s);
	must(fd >= 0 && !err);
	return fd;
}

static void port_becomes_active(const struct side *s)
{
	struct ibv_port_attr port = {};
	__u64 end = 0;

	do {
		must_be(ibv_query_port(s->ctx, 1, &port), 0);
	} while (port.state != IBV_PORT_ACTIVE && wait_more(&end, "active port"));
	must_be(port.state, IBV_PORT_ACTIVE);
}

void wire_open(bool looked_at)
{
	int i;

	wire_packets = 0;
	num_seen = 0;
	num_held = 0;
	holding = false;
	wire_fd[0] = tap_open(&sides[0]);
	wire_is_tap = wire_fd[0] >= 0;
	for (i = 0; i < 2; i++) {
		if (i || !wire_is_tap)
			wire_fd[i] = wire_is_tap ? tap_open(&sides[i]) :
						   sock_open(&sides[!i]);
		must(wire_fd[i] >= 0);
		undo_later(close_fd, (void *)(long)(wire_fd[i] + 1));
		mac_of(&sides[i], wire_mac[i]);
	}
	/* capture sockets share the packets and never consume them */
	for (i = 0; i < 2 && wire_is_tap && looked_at; i++)
		undo_later(close_fd, (void *)(long)(sock_open(&sides[i]) + 1));
	for (i = 0; i < 2; i++)
		port_becomes_active(&sides[i]);
	if (wire_is_tap && !cover)
		cover_open();
	if (!wire_log)
		log_open();
}

/* ---- injecting ---- */

static void batch_send(int side)
{
	struct batch *b = &batches[side];
	int at = 0, n;

	while (at < b->num) {
		n = sendmmsg(wire_fd[side], b->msg + at, b->num - at, 0);
		/* skip a packet that the socket refuses */
		at += n > 0 ? n : 1;
	}
	b->num = 0;
}

void wire_flush(void)
{
	batch_send(0);
	batch_send(1);
}

static void batch_add(int side, const struct iovec *iov)
{
	struct batch *b = &batches[side];
	__u8 *data = b->data[b->num];

	memcpy(data, iov[0].iov_base, iov[0].iov_len);
	memcpy(data + iov[0].iov_len, iov[1].iov_base, iov[1].iov_len);
	b->iov[b->num].iov_base = data;
	b->iov[b->num].iov_len = iov[0].iov_len + iov[1].iov_len;
	memset(&b->msg[b->num], 0, sizeof(b->msg[0]));
	b->msg[b->num].msg_hdr.msg_iov = &b->iov[b->num];
	b->msg[b->num].msg_hdr.msg_iovlen = 1;
	if (++b->num == BATCH)
		batch_send(side);
}

void wire_put(int side, const struct virtio_net_hdr *hdr, const void *frame,
	      size_t len)
{
	struct iovec iov[2] = {
		{ (void *)hdr, sizeof(*hdr) }, { (void *)frame, len },
	};

	wire_packets++;
	log_frame(frame, len);
	if (!wire_is_tap) {
		batch_add(side, iov);
		return;
	}
	cover_begin();
	/* The kernel may refuse invalid virtio headers. */
	if (writev(wire_fd[side], iov, 2) < 0)
		must(errno == EINVAL || errno == ENOMEM || errno == EFAULT);
	cover_end();
}

/* ---- forwarding and tracking ---- */

static const __u8 *transport_of(const __u8 *frame, size_t len, size_t *left)
{
	size_t l4;

	if (get_be16(frame + 12) == 0x0800)
		l4 = 34;
	else if (get_be16(frame + 12) == 0x86dd)
		l4 = 54;
	else
		return NULL;
	if (len < l4 + 8 + BTH_BYTES + 4 || frame[l4 == 34 ? 23 : 20] != 17 ||
	    get_be16(frame + l4 + 2) != ROCE_PORT)
		return NULL;
	*left = len - l4 - 8;
	return frame + l4 + 8;
}

static __s32 psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

/* Number of PSNs of a request; for a READ, those of its response */
static __u32 request_psns(const __u8 *bth)
{
	int at = opcode_offset(bth[BTH_OPCODE], H_RETH);
	__u32 len;

	if ((bth[BTH_OPCODE] & 0x1f) != 0x0c || at < 0)
		return 1;
	len = get_be32(bth + at + 12);
	return len ? (len + forge_mtu() - 1) / forge_mtu() : 1;
}

static void learn_request(struct target *t, struct target *from,
			  const __u8 *bth)
{
	__u32 next = get_be24(bth + BTH_PSN) + request_psns(bth);

	if (psn_diff(next, t->epsn) > 0)
		t->epsn = next & PSN_MASK;
	if (from && psn_diff(next, from->high) > 0)
		from->high = next & PSN_MASK;
}

static void learn_response(struct target *t, struct target *from,
			   const __u8 *bth)
{
	int at = opcode_offset(bth[BTH_OPCODE], H_AETH);
	bool nak = at >= 0 && bth[at] & 0x60;
	__u32 next = get_be24(bth + BTH_PSN) + !nak;

	if (psn_diff(next, t->una) > 0)
		t->una = next & PSN_MASK;
	if (from && (bth[BTH_OPCODE] & 0x1f) == 0x11)
		from->epsn = next & PSN_MASK;
}

static void learn(int to, const __u8 *frame, size_t len)
{
	struct target *t, *from;
	const __u8 *bth;
	struct seen *s;
	size_t left;

	bth = transport_of(frame, len, &left);
	if (!bth)
		return;
	if (len <= sizeof(s->frame)) {
		s = &seen[num_seen++ % MAX_SEEN];
		s->to = to;
		s->len = len;
		memcpy(s->frame, frame, len);
	}
	t = target_find(to, get_be24(bth + BTH_QPN));
	if (!t || t->transport == TP_UD || left < 32)
		return;
	from = target_find(!to, t->peer);
	if (opcode_parts(bth[BTH_OPCODE]) & H_REQ)
		learn_request(t, from, bth);
	else if ((bth[BTH_OPCODE] & 0xe0) == t->transport)
		learn_response(t, from, bth);
}

static void deliver(int to, const __u8 *data, ssize_t len)
{
	cover_begin();
	if (write(wire_fd[to], data, len) < 0)
		must(errno == EINVAL);
	cover_end();
}

static void release(void)
{
	int i;

	for (i = 0; i < num_held; i++)
		deliver(held[i].to, held[i].data, held[i].len);
	num_held = 0;
}

void wire_hold(bool hold)
{
	holding = hold && wire_is_tap;
	if (!holding)
		release();
}

static void pass_on(int to, const __u8 *data, ssize_t len)
{
	if (!holding || len > (ssize_t)sizeof(held[0].data)) {
		deliver(to, data, len);
		return;
	}
	held[num_held].to = to;
	held[num_held].len = len;
	memcpy(held[num_held++].data, data, len);
	if (num_held == HELD_MAX)
		release();
}

/* Forwards one packet sent by host @from; returns false if there is none. */
static bool pump_tap(int from)
{
	static __u8 data[FORGED_MAX];
	ssize_t len = read(wire_fd[from], data, sizeof(data));

	if (len <= 10 + 14)
		return false;
	learn(!from, data + 10, len - 10);
	pass_on(!from, data, len);
	return true;
}

/* Captures one packet from the socket that sees what is sent to host @to. */
static bool pump_sock(int to)
{
	static __u8 data[FORGED_MAX + 10];
	struct sockaddr_ll at;
	socklen_t at_len = sizeof(at);
	ssize_t len = recvfrom(wire_fd[to], data, sizeof(data), 0,
			       (struct sockaddr *)&at, &at_len);

	if (len < 0)
		return false;
	if (at.sll_pkttype == PACKET_OUTGOING && len > 10 + 14)
		learn(to, data + 10, len - 10);
	return true;
}

void wire_pump(void)
{
	int i, side;

	wire_flush();
	for (side = 0; side < 2; side++)
		for (i = 0; i < 512; i++)
			if (!(wire_is_tap ? pump_tap(side) : pump_sock(side)))
				break;
}
