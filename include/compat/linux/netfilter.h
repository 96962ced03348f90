/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/netfilter.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_NETFILTER_H
#define SRNIC_COMPAT_NETFILTER_H

#include_next <linux/netfilter.h>

#ifdef SRNIC_HAVE_CT_CONFIRM
#define SRNIC_CT_CONFIRM(hook, skb)	((hook)->confirm(skb))
#elif IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <linux/module.h>

int __nf_conntrack_confirm(struct sk_buff *skb);

/*
 * The table of conntrack lacks the function.  It is looked up by name, as a reference
 * would load conntrack along with this module.
 */
static inline int srnic_ct_confirm(struct sk_buff *skb)
{
	int (*confirm)(struct sk_buff *skb) = symbol_get(__nf_conntrack_confirm);
	int verdict;

	if (!confirm)
		return NF_DROP;

	verdict = confirm(skb);
	symbol_put(__nf_conntrack_confirm);

	return verdict;
}

#define SRNIC_CT_CONFIRM(hook, skb)	srnic_ct_confirm(skb)
#endif

#endif /* SRNIC_COMPAT_NETFILTER_H */
