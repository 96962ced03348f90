// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* UDP tunnels take a struct sock, not a struct socket, 7.1 */
#include <net/udp_tunnel.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}
