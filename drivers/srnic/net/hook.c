// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - interception of packets from the stack, per network namespace
 *
 * A netfilter hook, last at LOCAL_IN, sees GSO chains unsplit and after the host's
 * firewall.  A UDP socket on the port keeps the host from answering "port unreachable" and
 * receives what the hook leaves (skbs that must be split first); it is best effort, since
 * another driver may own the port.
 *
 * Tunnels and rdma_rxe receive through encap_rcv() of such a socket alone.  For a socket
 * that has one, udp_unexpected_gso() makes the stack split every GSO chain that is not a
 * tunnel's, whatever the socket accepts; and there can be no second socket for the port
 * beside that of rdma_rxe.  The price is that this file does what the stack does between
 * the hook and a socket: it confirms conntrack entries and checks the IPsec policy.
 *
 * Another hook, last at LOCAL_OUT, drops packets to the port that come from sockets of users
 * without CAP_NET_RAW.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include <net/xfrm.h>

#include "../trace.h"
#include "burst.h"
#include "crc.h"
#include "input.h"
#include "net.h"
#include "tx.h"
#include "udp.h"

/**
 * struct hook_net - per-namespace state
 * @lock: protects the other fields
 * @users: number of devices that receive here
 * @sock4: IPv4 socket bound to the port, or NULL; read by the hook without the lock
 * @sock6: IPv6 socket bound to the port, or NULL; likewise
 * @unprivileged: number of packets dropped at LOCAL_OUT; counted without the lock
 */
struct hook_net {
	struct mutex	lock;	/* protects the other fields */
	unsigned int	users;
	struct socket	*sock4;
	struct socket	*sock6;
	atomic64_t	unprivileged;
};

static unsigned int hook_net_id;

/* Offset of the BTH from skb->data if this can be RoCEv2 over IPv4, else 0. */
static unsigned int hook_bth4(struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (ip->protocol != IPPROTO_UDP || ip->ihl != 5 || ip_is_fragment(ip))
		return 0;

	return SRNIC_UDP4_BYTES;
}

static unsigned int hook_bth6(struct sk_buff *skb)
{
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP ? SRNIC_UDP6_BYTES : 0;
}

/*
 * Conntrack confirms a connection at the priority of this hook, so a stolen packet may
 * miss it.  Return: false if conntrack drops the packet.
 */
static bool hook_confirm(struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	const struct nf_ct_hook *ct_hook = rcu_dereference(nf_ct_hook);
	enum ip_conntrack_info info;
	struct nf_conn *ct = nf_ct_get(skb, &info);

	if (ct_hook && ct && !nf_ct_is_confirmed(ct))
		return SRNIC_CT_CONFIRM(ct_hook, skb) == NF_ACCEPT;
#endif
	return true;
}

/* Are @a and @b the same IPsec states?  @b may be NULL: none. */
static bool hook_same_states(const struct sec_path *a,
			     const struct sec_path *b)
{
	return b && a->len == b->len &&
	       !memcmp(a->xvec, b->xvec, a->len * sizeof(*a->xvec));
}

/*
 * The policy check looks only at the states of the first packet of a chain, and GRO
 * does not compare states when it builds one.  Splitting does not help: all packets
 * would inherit the states of the first.  A chain whose first packet has no states is
 * checked as plain text.
 */
static bool hook_policy_ok(struct net *net, struct sk_buff *skb, u8 family)
{
	const struct sec_path *states = skb_sec_path(skb);
	struct sk_buff *seg;

	if (states && skb_is_gso(skb)) {
		skb_walk_frags(skb, seg) {
			if (hook_same_states(states, skb_sec_path(seg)))
				continue;
			XFRM_INC_STATS(net, LINUX_MIB_XFRMINTMPLMISMATCH);
			return false;
		}
	}

	return xfrm_policy_check(NULL, XFRM_POLICY_IN, skb, family);
}

/*
 * Is the port bound by srnic?  If it belongs to another driver, a packet that its receiver
 * refuses is left to that driver: the QP number may be one of its own.
 */
static bool hook_has_port(const struct net *net, u8 family)
{
	const struct hook_net *hn = net_generic(net, hook_net_id);

	return family == AF_INET ? READ_ONCE(hn->sock4) : READ_ONCE(hn->sock6);
}

/*
 * Usually runs in softirq, but NFQUEUE reinjects packets in process context.  Checks the
 * IPsec policy, as the UDP socket would, which does not get a stolen packet.
 */
static unsigned int hook_take(struct sk_buff *skb, struct net *net,
			      u8 family, unsigned int bth)
{
	unsigned int start = bth - sizeof(struct udphdr);
	const struct udphdr *udp;
	struct udphdr buf;
	enum srnic_rx_fate fate;

	if (!bth || skb_network_offset(skb))
		return NF_ACCEPT;
	udp = skb_header_pointer(skb, start, sizeof(buf), &buf);
	if (!udp || udp->dest != htons(SRNIC_UDP_PORT))
		return NF_ACCEPT;
	skb_set_transport_header(skb, start);
	if (!hook_confirm(skb) || !hook_policy_ok(net, skb, family))
		return NF_DROP;

	local_bh_disable();
	fate = srnic_rx_take(net, skb, bth);
	local_bh_enable();
	if (fate == SRNIC_RX_TAKEN)
		return NF_STOLEN;

	return fate == SRNIC_RX_REFUSED && hook_has_port(net, family) ?
	       NF_DROP : NF_ACCEPT;
}

static unsigned int hook_ipv4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	return hook_take(skb, state->net, AF_INET, hook_bth4(skb));
}

static unsigned int hook_ipv6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	return hook_take(skb, state->net, AF_INET6, hook_bth6(skb));
}

/* Did the opener of @sk have CAP_NET_RAW in @net?  If @sk is closed: no. */
static bool hook_may_forge(struct sock *sk, const struct net *net)
{
	const struct file *file;
	bool may;

	if (sk->sk_kern_sock)
		return true;

	read_lock_bh(&sk->sk_callback_lock);
	file = sk->sk_socket ? sk->sk_socket->file : NULL;
	may = file && file_ns_capable(file, net->user_ns, CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);

	return may;
}

/*
 * A user who can send to the RoCE port from an ordinary socket can forge packets of other
 * users' queue pairs.  Drivers and tunnels send without a socket, or from one of the kernel.
 * IPsec sends from the user's socket, perhaps to a peer for which a NAT chose this port;
 * that is let pass, as hook_send4() and hook_send6() have seen the plain text before.
 */
static unsigned int hook_send(struct sk_buff *skb, unsigned int start,
			      const struct nf_hook_state *state)
{
	struct hook_net *hn = net_generic(state->net, hook_net_id);
	struct sock *sk = state->sk;
	const struct udphdr *udp;
	struct udphdr buf;

	udp = skb_header_pointer(skb, start, sizeof(buf), &buf);
	if (!udp || udp->dest != htons(SRNIC_UDP_PORT))
		return NF_ACCEPT;
	if (!sk_fullsock(sk) || hook_may_forge(sk, state->net))
		return NF_ACCEPT;

	atomic64_inc(&hn->unprivileged);
	trace_srnic_drop(0, SRNIC_TX_UNPRIVILEGED);

	return NF_DROP;
}

static unsigned int hook_send4(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (!state->sk || IPCB(skb)->flags & IPSKB_XFRM_TRANSFORMED ||
	    ip->protocol != IPPROTO_UDP)
		return NF_ACCEPT;

	return hook_send(skb, skb_network_offset(skb) + ip->ihl * 4, state);
}

static unsigned int hook_send6(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	unsigned int start = 0;

	if (!state->sk || IP6CB(skb)->flags & IP6SKB_XFRM_TRANSFORMED ||
	    ipv6_find_hdr(skb, &start, IPPROTO_UDP, NULL, NULL) != IPPROTO_UDP)
		return NF_ACCEPT;

	return hook_send(skb, start, state);
}

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook = hook_ipv4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = hook_send4,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook = hook_ipv6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
	{
		.hook = hook_send6,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	},
#endif
};

/* Options and extension headers are not part of a RoCEv2 packet. */
static bool hook_is_plain(const struct sk_buff *skb)
{
	return skb_network_header_len(skb) == (ip_hdr(skb)->version == 4 ?
					       sizeof(struct iphdr) :
					       sizeof(struct ipv6hdr));
}

/* Receives what the hook has left: packets of split chains, and those without a receiver. */
static int hook_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	unsigned int bth = skb_transport_offset(skb) + sizeof(struct udphdr);

	if (!hook_is_plain(skb) ||
	    srnic_rx_take(sock_net(sk), skb, bth) != SRNIC_RX_TAKEN)
		kfree_skb(skb);

	return 0;
}

static struct socket *hook_bind(struct net *net, sa_family_t family)
{
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(SRNIC_UDP_PORT),
		.ipv6_v6only = 1,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = hook_encap_rcv,
	};
	struct socket *sock;

	if (udp_sock_create(net, &cfg, &sock))
		return NULL;
	setup_udp_tunnel_sock(net, sock->sk, &tunnel);

	return sock;
}

/* Binds the port if it is not bound yet: another driver may have owned it before. */
static void hook_bind_all(struct net *net, struct hook_net *hn)
{
	lockdep_assert_held(&hn->lock);

	if (!hn->sock4)
		WRITE_ONCE(hn->sock4, hook_bind(net, AF_INET));
	if (IS_ENABLED(CONFIG_IPV6) && !hn->sock6)
		WRITE_ONCE(hn->sock6, hook_bind(net, AF_INET6));
}

static void hook_unbind(struct socket *sock)
{
	if (sock)
		udp_tunnel_sock_release(sock->sk);
}

static void hook_unbind_all(struct hook_net *hn)
{
	lockdep_assert_held(&hn->lock);

	hook_unbind(hn->sock4);
	hook_unbind(hn->sock6);
	WRITE_ONCE(hn->sock4, NULL);
	WRITE_ONCE(hn->sock6, NULL);
}

int srnic_rx_start(struct net *net)
{
	struct hook_net *hn = net_generic(net, hook_net_id);
	int err = 0;

	mutex_lock(&hn->lock);
	if (!hn->users) {
		err = nf_register_net_hooks(net, hook_ops, ARRAY_SIZE(hook_ops));
		if (err)
			goto out;
	}
	hook_bind_all(net, hn);
	hn->users++;
out:
	mutex_unlock(&hn->lock);
	return err;
}

void srnic_rx_stop(struct net *net)
{
	struct hook_net *hn = net_generic(net, hook_net_id);

	mutex_lock(&hn->lock);
	if (!--hn->users) {
		nf_unregister_net_hooks(net, hook_ops, ARRAY_SIZE(hook_ops));
		hook_unbind_all(hn);
	}
	mutex_unlock(&hn->lock);
}

u64 srnic_tx_unprivileged(struct net *net)
{
	struct hook_net *hn = net_generic(net, hook_net_id);

	return atomic64_read(&hn->unprivileged);
}

static int __net_init hook_net_init(struct net *net)
{
	struct hook_net *hn = net_generic(net, hook_net_id);

	mutex_init(&hn->lock);

	return 0;
}

static struct pernet_operations hook_net_ops = {
	.init = hook_net_init,
	.id = &hook_net_id,
	.size = sizeof(struct hook_net),
};

int srnic_net_init(const struct srnic_rx_ops *ops)
{
	int err;

	srnic_rx_ops = ops;
	err = srnic_burst_init();
	if (err)
		return err;
	srnic_crc_init();
	err = register_pernet_subsys(&hook_net_ops);
	if (err)
		goto err_pernet;

	return 0;

err_pernet:
	srnic_crc_exit();
	srnic_burst_exit();
	return err;
}

void srnic_net_exit(void)
{
	unregister_pernet_subsys(&hook_net_ops);
	srnic_crc_exit();
	srnic_burst_exit();
	srnic_tx_exit();
}
