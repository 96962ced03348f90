/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <net/udp_tunnel.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_UDP_TUNNEL_H
#define SRNIC_COMPAT_UDP_TUNNEL_H

#include_next <net/udp_tunnel.h>

#ifndef SRNIC_HAVE_UDP_TUNNEL_SK
static inline void srnic_udp_tunnel_sock_release(struct sock *sk)
{
	udp_tunnel_sock_release(sk->sk_socket);
}

#define udp_tunnel_sock_release(sk) srnic_udp_tunnel_sock_release(sk)

static inline void srnic_setup_udp_tunnel_sock(struct net *net,
					       struct sock *sk,
					       struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net, sk->sk_socket, cfg);
}

#define setup_udp_tunnel_sock(net, sk, cfg) \
	srnic_setup_udp_tunnel_sock(net, sk, cfg)
#endif

#endif /* SRNIC_COMPAT_UDP_TUNNEL_H */
