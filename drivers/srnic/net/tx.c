// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets to the stack, as GSO chains
 *
 * A GSO chain is one skb: the first packet with the others on its frag_list,
 * each complete with its own IP, UDP and transport headers and ICRC, marked
 * SKB_GSO_FRAGLIST.  Route, netfilter, qdisc and the receiver's softirq are
 * paid for once; for a device that cannot take the chain the stack splits it.
 *
 * skb_gro_receive_list() passes received packets on in this form, and chains rely on how
 * the stack treats those: skb_segment_list() keeps the headers of each packet, a UDP
 * checksum of zero stays, routers compare gso_size with their MTU.  The stack has no
 * function that builds a chain for a sender: UDP_SEGMENT cuts one payload into packets of
 * one length and writes their headers itself, while those of a message differ in length
 * (RETH) and each has an ICRC over its headers.
 *
 * When the stack splits a chain, it assigns ascending IPv4 IDs from that of the head on, so
 * the packets are built with these: the ICRC covers the ID.  Until then the lengths in the
 * head's IP and UDP headers are those of the whole chain.
 *
 * Behind the first device a chain may be forwarded to a tunnel or to IPsec, which enlarge
 * the headroom of the head alone, while skb_segment_list() assumes that the others have
 * room for as many headers.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/local_lock.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../wire/icrc.h"
#include "crc.h"
#include "path.h"
#include "tx.h"
#include "udp.h"

#define TX_CHAIN_BYTES	65535
#define TX_ALIGN	16

/* Headroom for tunnels behind the first device, twice that of packets merged by GRO */
#define TX_TUNNELS	128

/* Page blocks per CPU: as much memory as the gate lets a queue pair have in the stack */
#define TX_BLOCKS	16

/* A packet may be longer than the head of its chain by an RETH. */
#define TX_SLACK	sizeof(struct srnic_reth)

/*
 * Weight of an skb at the gate.  It is implied by the destructor: the stack may change any
 * length, and preserves only the destructor and its argument.
 */
#define TX_LIGHT	1
#define TX_HEAVY	16
#define TX_HEAVY_BYTES	8192
#define TX_LOAD_MAX	128

/*
 * The sender must not start to wait when the last skb has just been freed:
 *
 * C srnic_gate
 *
 * {
 *	load=1;
 * }
 *
 * P0(atomic_t *waiting, atomic_t *load)	// srnic_gate_open()
 * {
 *	atomic_set(waiting, 1);
 *	smp_mb();
 *	int r0 = atomic_read(load);
 * }
 *
 * P1(atomic_t *waiting, atomic_t *load)	// tx_done()
 * {
 *	int r1 = atomic_sub_return(1, load);
 *	int r2 = atomic_read(waiting);
 * }
 *
 * exists (0:r0=1 /\ 1:r2=0)
 *
 * Result: Never.  smp_mb__after_atomic() in place of smp_mb() allows it:
 * atomic_set() is a plain store, not a read-modify-write operation.
 */
bool srnic_gate_open(struct srnic_gate *gate)
{
	if (atomic_read(&gate->load) < TX_LOAD_MAX)
		return true;

	atomic_set(&gate->waiting, 1);
	smp_mb();	/* pairs with atomic_sub_return() in tx_done() */

	return atomic_read(&gate->load) < TX_LOAD_MAX;
}

static void tx_done(struct sk_buff *skb, int weight)
{
	struct srnic_gate *gate = skb_shinfo(skb)->destructor_arg;

	if (atomic_sub_return(weight, &gate->load) < TX_LOAD_MAX / 2 &&
	    atomic_read(&gate->waiting) && atomic_xchg(&gate->waiting, 0))
		gate->wake(gate);
	kref_put(&gate->ref, gate->free);
}

static void tx_done_light(struct sk_buff *skb)
{
	tx_done(skb, TX_LIGHT);
}

static void tx_done_heavy(struct sk_buff *skb)
{
	tx_done(skb, TX_HEAVY);
}

static unsigned int path_hdr_len(const struct srnic_path *path)
{
	return path->v4 ? SRNIC_UDP4_BYTES : SRNIC_UDP6_BYTES;
}

/* Headroom before the BTH; aligns the data behind the BTH for CRC and copy. */
static unsigned int tx_headroom(const struct srnic_path *path)
{
	unsigned int room = LL_RESERVED_SPACE(path->ndev) + TX_TUNNELS +
			    path_hdr_len(path);

	return ALIGN(room + sizeof(struct srnic_bth), TX_ALIGN) -
	       sizeof(struct srnic_bth);
}

/**
 * struct tx_blocks - page blocks from which a CPU allocates packets, in turn
 * @lock: for PREEMPT_RT, where disabling BHs does not exclude other users
 * @turn: index of the block in use; under @lock
 * @frags: unused rests of the blocks; under @lock
 *
 * When its turn comes again, a block whose packets have been freed is reused: it is in the
 * cache and need not be cleared (init_on_alloc).  Any other block is replaced.
 */
struct tx_blocks {
	local_lock_t		lock;	/* protects turn and frags */
	unsigned int		turn;
	struct page_frag	frags[TX_BLOCKS];
};

static DEFINE_PER_CPU(struct tx_blocks, tx_blocks) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* The block with room for @size bytes.  Return: NULL without memory. */
static struct page_frag *tx_refill(struct tx_blocks *blocks, unsigned int size)
{
	struct page_frag *frag = &blocks->frags[blocks->turn];

	if (frag->page && frag->size - frag->offset >= size)
		return frag;

	if (size > PAGE_SIZE << SKB_FRAG_PAGE_ORDER)
		return NULL;
	blocks->turn = (blocks->turn + 1) % TX_BLOCKS;
	frag = &blocks->frags[blocks->turn];
	if (!skb_page_frag_refill(size, frag, GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	if (frag->size - frag->offset >= size)
		return frag;

	/* a single page, which was allocated when no larger block was free */
	put_page(frag->page);
	frag->page = NULL;

	return NULL;
}

/* Allocates a packet of @size bytes.  Return: NULL without memory. */
static struct sk_buff *tx_cut(struct tx_blocks *blocks, unsigned int size)
{
	struct page_frag *frag = tx_refill(blocks, size);
	struct sk_buff *skb;

	if (!frag)
		return NULL;

	skb = napi_build_skb(page_address(frag->page) + frag->offset, size);
	if (skb) {
		get_page(frag->page);
		frag->offset += size;
	}

	return skb;
}

/*
 * Packets are allocated from page blocks, since kmalloc() would use twice the memory
 * for a packet of MTU 4096.
 */
struct sk_buff *srnic_tx_new(unsigned int len)
{
	unsigned int size = SKB_DATA_ALIGN(len) +
			    SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;

	local_lock_nested_bh(&tx_blocks.lock);
	skb = tx_cut(this_cpu_ptr(&tx_blocks), size);
	local_unlock_nested_bh(&tx_blocks.lock);

	return skb ?: alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
}

void srnic_tx_exit(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct tx_blocks *blocks = per_cpu_ptr(&tx_blocks, cpu);

		for (i = 0; i < TX_BLOCKS; i++)
			if (blocks->frags[i].page)
				put_page(blocks->frags[i].page);
	}
}

struct sk_buff *srnic_tx_alloc(struct srnic_txb *txb, struct srnic_pkt *pkt,
			       void **payload)
{
	unsigned int headroom = tx_headroom(txb->path);
	unsigned int hdr_len = srnic_pkt_op(pkt)->hdr_len;
	unsigned int body;
	struct sk_buff *skb;
	u8 *data;

	pkt->pad = -pkt->payload & 3;
	body = pkt->payload + pkt->pad;
	skb = srnic_tx_new(headroom + hdr_len + body + SRNIC_ICRC_BYTES);
	if (!skb) {
		srnic_count(txb->stats, SRNIC_CNT_TX_NOBUF);
		return NULL;
	}
	skb_reserve(skb, headroom);
	data = skb_put(skb, hdr_len + body + SRNIC_ICRC_BYTES);
	srnic_pkt_build(data, pkt);
	memset(data + hdr_len + pkt->payload, 0, pkt->pad);
	*payload = data + hdr_len;

	return skb;
}

/*
 * The ICRC has ones in place of what routers may change.  So have the headers that are
 * written first: the CRC is computed where they lie, in one go.
 */
static void tx_ipv4(struct srnic_path *path, struct iphdr *iph, u16 udp_len)
{
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = 0xff;
	iph->tot_len = htons(sizeof(*iph) + udp_len);
	iph->id = htons(path->ip_id++);
	iph->frag_off = htons(IP_DF);
	iph->ttl = 0xff;
	iph->protocol = IPPROTO_UDP;
	iph->check = CSUM_MANGLED_0;
	iph->saddr = path->saddr.s6_addr32[3];
	iph->daddr = path->daddr.s6_addr32[3];
}

static void tx_ipv4_end(const struct srnic_path *path, struct iphdr *iph)
{
	iph->tos = path->tos;
	iph->ttl = path->ttl;
	ip_send_check(iph);
}

static void tx_ipv6(const struct srnic_path *path, struct ipv6hdr *ip6, u16 udp_len)
{
	ip6_flow_hdr(ip6, 0xff, IPV6_FLOWLABEL_MASK);
	ip6->payload_len = htons(udp_len);
	ip6->nexthdr = IPPROTO_UDP;
	ip6->hop_limit = 0xff;
	ip6->saddr = path->saddr;
	ip6->daddr = path->daddr;
}

static void tx_ipv6_end(const struct srnic_path *path, struct ipv6hdr *ip6)
{
	ip6_flow_hdr(ip6, path->tos, htonl(path->label));
	ip6->hop_limit = path->ttl;
}

/* The CRC of a packet from its IP header on, whose headers are not complete yet */
static u32 tx_crc(const struct sk_buff *skb, const void *ip)
{
	u8 *resv8a = skb->data + offsetof(struct srnic_bth, qpn);	/* FECN and BECN */
	u8 before = *resv8a;
	u32 crc;

	*resv8a = 0xff;
	crc = srnic_crc32(SRNIC_ICRC_SEED, ip, skb_tail_pointer(skb) - SRNIC_ICRC_BYTES -
					       (const u8 *)ip);
	*resv8a = before;

	return crc;
}

/* Writes the IP and UDP headers into the headroom and the ICRC into the trailer. */
static void tx_seal(struct srnic_path *path, struct sk_buff *skb)
{
	unsigned int hdr_len = path_hdr_len(path);
	u16 udp_len = sizeof(struct udphdr) + skb->len;
	void *ip = skb->data - hdr_len;
	struct udphdr *udp = (void *)skb->data - sizeof(*udp);
	u32 crc;

	skb_set_network_header(skb, -(int)hdr_len);
	skb_set_transport_header(skb, -(int)sizeof(*udp));
	udp->source = path->sport;
	udp->dest = htons(SRNIC_UDP_PORT);
	udp->len = htons(udp_len);
	udp->check = CSUM_MANGLED_0;
	if (path->v4)
		tx_ipv4(path, ip, udp_len);
	else
		tx_ipv6(path, ip, udp_len);
	crc = tx_crc(skb, ip);
	if (path->v4)
		tx_ipv4_end(path, ip);
	else
		tx_ipv6_end(path, ip);
	udp->check = 0;
	*(__le32 *)(skb_tail_pointer(skb) - SRNIC_ICRC_BYTES) =
		srnic_icrc_end(crc);
}

static unsigned int tx_chain_max(const struct srnic_path *path)
{
	return min_t(unsigned int, TX_CHAIN_BYTES,
		     READ_ONCE(path->ndev->gso_max_size));
}

/* Routers compare the length of the head, as gso_size, with their MTU. */
static bool tx_fits(const struct srnic_txb *txb, const struct sk_buff *skb,
		    unsigned int bytes)
{
	return txb->bytes + bytes <= tx_chain_max(txb->path) &&
	       skb->len <= txb->head->len + TX_SLACK;
}

void srnic_tx_add(struct srnic_txb *txb, struct sk_buff *skb)
{
	unsigned int bytes = path_hdr_len(txb->path) + skb->len;

	if (txb->head && !tx_fits(txb, skb, bytes))
		srnic_tx_flush(txb);

	tx_seal(txb->path, skb);
	if (!txb->head)
		txb->head = skb;
	else if (txb->num == 1)
		skb_shinfo(txb->head)->frag_list = skb;
	else
		txb->last->next = skb;
	txb->last = skb;
	txb->bytes += bytes;
	txb->num++;
}

/* Makes the packets one skb: a GSO chain, or the only packet. */
static struct sk_buff *tx_join(struct srnic_txb *txb)
{
	struct sk_buff *skb = txb->head;
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	unsigned int seg = skb->len;
	struct sk_buff *frag;

	skb_push(skb, path_hdr_len(txb->path));
	if (txb->num == 1)
		return skb;

	skb_walk_frags(skb, frag) {
		skb->len += frag->len;
		skb->data_len += frag->len;
		skb->truesize += frag->truesize;
	}
	shinfo->gso_size = seg;
	shinfo->gso_segs = txb->num;
	shinfo->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	skb->ip_summed = CHECKSUM_UNNECESSARY;	/* else the stack splits it */
	/* Where a device splits it, stable kernels such as 6.6.57 drop it otherwise. */
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	udp_hdr(skb)->len = htons(skb->len - skb_transport_offset(skb));
	srnic_count(txb->stats, SRNIC_CNT_TX_SUPER);

	return skb;
}

void srnic_tx_charge(struct srnic_gate *gate, struct sk_buff *skb)
{
	bool heavy = skb->len > TX_HEAVY_BYTES;

	kref_get(&gate->ref);
	atomic_add(heavy ? TX_HEAVY : TX_LIGHT, &gate->load);
	skb_shinfo(skb)->destructor_arg = gate;
	skb->destructor = heavy ? tx_done_heavy : tx_done_light;
}

/* rt_tos2priority() ignores the precedence (internetwork control, network control). */
static u32 tx_priority(u8 tos)
{
	return tos < IPTOS_PREC_INTERNETCONTROL ? rt_tos2priority(tos) :
						  TC_PRIO_INTERACTIVE;
}

/*
 * Passes @skb to the stack.  The path holds a reference on the route until this returns.
 * Code that keeps the packet for longer, such as a qdisc, takes one of its own, which
 * needs RCU.
 */
static int tx_out(struct srnic_path *path, struct sk_buff *skb,
		  struct dst_entry *dst)
{
	struct net *net = dev_net(path->ndev);
	int err;

	skb->dev = path->ndev;
	skb->protocol = htons(path->v4 ? ETH_P_IP : ETH_P_IPV6);
	skb->priority = tx_priority(path->tos);
	srnic_path_steer(path, skb);

	rcu_read_lock();
	skb_dst_set_noref(skb, dst);
	if (path->v4 || !IS_ENABLED(CONFIG_IPV6))
		err = ip_local_out(net, NULL, skb);
	else
		err = ip6_local_out(net, NULL, skb);
	rcu_read_unlock();

	return net_xmit_eval(err);
}

static void tx_send(struct srnic_txb *txb, struct sk_buff *skb,
		    struct dst_entry *dst)
{
	srnic_tx_charge(txb->gate, skb);
	if (tx_out(txb->path, skb, dst))
		srnic_count(txb->stats, SRNIC_CNT_SEND_ERR);
}

/* Sends the packets one by one; @dst is the route of all of them. */
static void tx_send_each(struct srnic_txb *txb, struct dst_entry *dst)
{
	struct sk_buff *skb = txb->head, *next = skb_shinfo(skb)->frag_list;

	skb_shinfo(skb)->frag_list = NULL;
	while (skb) {
		skb_push(skb, path_hdr_len(txb->path));
		tx_send(txb, skb, dst);
		skb = next;
		if (skb) {
			next = skb->next;
			skb_mark_not_on_list(skb);
		}
	}
}

/*
 * IPsec gets packets one by one: if the stack has a GSO type for the transformation, that
 * would be applied to the head of a chain alone.  So does a route that encapsulates, whose
 * headers may exceed TX_TUNNELS.
 */
static void tx_send_all(struct srnic_txb *txb)
{
	struct dst_entry *dst = srnic_path_dst(txb->path, txb->net);

	if (!dst) {
		kfree_skb(tx_join(txb));
		srnic_count(txb->stats, SRNIC_CNT_SEND_ERR);
	} else if (dst_xfrm(dst) || dst->lwtstate) {
		tx_send_each(txb, dst);
	} else {
		tx_send(txb, tx_join(txb), dst);
	}
}

void srnic_tx_flush(struct srnic_txb *txb)
{
	if (!txb->head)
		return;

	srnic_count_add(txb->stats, SRNIC_CNT_SENT_PKTS, txb->num);
	srnic_count_add(txb->stats, SRNIC_CNT_SENT_BYTES,
			txb->bytes - txb->num * path_hdr_len(txb->path));
	tx_send_all(txb);
	txb->head = NULL;
	txb->last = NULL;
	txb->bytes = 0;
	txb->num = 0;
}

void srnic_tx_alone(struct srnic_txb *txb, struct sk_buff *skb, u8 tos)
{
	struct srnic_path *path = txb->path;
	u8 before = path->tos;

	srnic_tx_flush(txb);
	path->tos = tos;
	srnic_tx_add(txb, skb);
	srnic_tx_flush(txb);
	path->tos = before;
}
