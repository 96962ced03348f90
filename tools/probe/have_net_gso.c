// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* <net/gso.h>, a part of <linux/netdevice.h> before, 6.5 */
#include <net/gso.h>

struct sk_buff *probe(struct sk_buff *skb);
struct sk_buff *probe(struct sk_buff *skb)
{
	return skb_gso_segment(skb, 0);
}
