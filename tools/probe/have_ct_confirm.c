// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct nf_ct_hook: confirm(), 6.7 and point releases of 6.1 and 6.6 */
#include <linux/netfilter.h>

int probe(const struct nf_ct_hook *hook, struct sk_buff *skb);
int probe(const struct nf_ct_hook *hook, struct sk_buff *skb)
{
	return hook->confirm(skb);
}
