// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - flows: translation of verbs flow specs into rules of the netdev's tap
 *
 * The core has copied the specs and checked their sizes; their contents are
 * validated here, bit by bit.
 */
#include <linux/if_ether.h>
#include <linux/slab.h>

#include "verbs.h"

/* IPv4 flags that a spec can match */
static_assert((int)IB_IPV4_DONT_FRAG == (int)SRNIC_IP_DONT_FRAG);
static_assert((int)IB_IPV4_MORE_FRAG == (int)SRNIC_IP_MORE_FRAGS);

/* Requires header @has, which excludes header @not; each may be required once. */
static int flow_need(struct srnic_match *match, u8 has, u8 not)
{
	if (match->val.has & (has | not))
		return -EINVAL;
	match->val.has |= has;
	match->mask.has |= has;

	return 0;
}

/* An EtherType implied by a rule must not contradict one given explicitly. */
static int flow_need_type(struct srnic_match *match, u16 type)
{
	__be16 want = htons(type);

	if ((match->val.ether_type ^ want) & match->mask.ether_type)
		return -EINVAL;

	return 0;
}

static int flow_eth(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	const struct ib_flow_eth_filter *val = &spec->eth.val;
	const struct ib_flow_eth_filter *mask = &spec->eth.mask;
	struct srnic_match *match = &rule->match;

	memcpy(match->val.dmac, val->dst_mac, ETH_ALEN);
	memcpy(match->mask.dmac, mask->dst_mac, ETH_ALEN);
	memcpy(match->val.smac, val->src_mac, ETH_ALEN);
	memcpy(match->mask.smac, mask->src_mac, ETH_ALEN);
	match->val.ether_type = val->ether_type;
	match->mask.ether_type = mask->ether_type;
	match->val.vlan = val->vlan_tag;
	match->mask.vlan = mask->vlan_tag;
	/* An untagged frame does not match tag 0. */
	if (mask->vlan_tag)
		return flow_need(match, SRNIC_HAS_VLAN, 0);

	return 0;
}

static int flow_ipv4(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	const struct ib_flow_ipv4_filter *val = &spec->ipv4.val;
	const struct ib_flow_ipv4_filter *mask = &spec->ipv4.mask;
	struct srnic_match *match = &rule->match;

	if (mask->flags & ~(IB_IPV4_DONT_FRAG | IB_IPV4_MORE_FRAG))
		return -EOPNOTSUPP;
	memcpy(match->val.saddr, &val->src_ip, sizeof(val->src_ip));
	memcpy(match->mask.saddr, &mask->src_ip, sizeof(mask->src_ip));
	memcpy(match->val.daddr, &val->dst_ip, sizeof(val->dst_ip));
	memcpy(match->mask.daddr, &mask->dst_ip, sizeof(mask->dst_ip));
	match->val.proto = val->proto;
	match->mask.proto = mask->proto;
	match->val.tos = val->tos;
	match->mask.tos = mask->tos;
	match->val.ttl = val->ttl;
	match->mask.ttl = mask->ttl;
	match->val.ip_flags = val->flags;
	match->mask.ip_flags = mask->flags;

	return flow_need(match, SRNIC_HAS_IPV4, SRNIC_HAS_IPV6);
}

static int flow_ipv6(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	const struct ib_flow_ipv6_filter *val = &spec->ipv6.val;
	const struct ib_flow_ipv6_filter *mask = &spec->ipv6.mask;
	struct srnic_match *match = &rule->match;

	memcpy(match->val.saddr, val->src_ip, sizeof(val->src_ip));
	memcpy(match->mask.saddr, mask->src_ip, sizeof(mask->src_ip));
	memcpy(match->val.daddr, val->dst_ip, sizeof(val->dst_ip));
	memcpy(match->mask.daddr, mask->dst_ip, sizeof(mask->dst_ip));
	match->val.flow_label = val->flow_label;
	match->mask.flow_label = mask->flow_label;
	match->val.proto = val->next_hdr;
	match->mask.proto = mask->next_hdr;
	match->val.tos = val->traffic_class;
	match->mask.tos = mask->traffic_class;
	match->val.ttl = val->hop_limit;
	match->mask.ttl = mask->hop_limit;

	return flow_need(match, SRNIC_HAS_IPV6, SRNIC_HAS_IPV4);
}

static void flow_ports(struct srnic_match *match,
		       const struct ib_flow_spec_tcp_udp *spec)
{
	match->val.sport = spec->val.src_port;
	match->mask.sport = spec->mask.src_port;
	match->val.dport = spec->val.dst_port;
	match->mask.dport = spec->mask.dst_port;
}

static int flow_tcp(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	flow_ports(&rule->match, &spec->tcp_udp);

	return flow_need(&rule->match, SRNIC_HAS_TCP, SRNIC_HAS_UDP);
}

static int flow_udp(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	flow_ports(&rule->match, &spec->tcp_udp);

	return flow_need(&rule->match, SRNIC_HAS_UDP, SRNIC_HAS_TCP);
}

static int flow_tag(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	rule->tag = spec->flow_tag.tag_id;

	return 0;
}

static int flow_drop(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	rule->drop = true;

	return 0;
}

static struct srnic_ibcounters *to_counters(struct ib_counters *ibcounters)
{
	return container_of(ibcounters, struct srnic_ibcounters, ibcounters);
}

static int flow_count(struct srnic_rule *rule, const union ib_flow_spec *spec)
{
	rule->counters = &to_counters(spec->flow_count.counters)->counters;

	return 0;
}

/**
 * struct flow_spec - a kind of flow spec
 * @type: enum ib_flow_spec_type
 * @size: size of the spec in bytes
 * @filter: the spec selects frames, as opposed to an action
 * @put: adds the spec to a rule
 */
struct flow_spec {
	u32	type;
	u16	size;
	bool	filter;
	int	(*put)(struct srnic_rule *rule, const union ib_flow_spec *spec);
};

static const struct flow_spec flow_specs[] = {
	{ IB_FLOW_SPEC_ETH, sizeof(struct ib_flow_spec_eth), true, flow_eth },
	{ IB_FLOW_SPEC_IPV4, sizeof(struct ib_flow_spec_ipv4), true,
	  flow_ipv4 },
	{ IB_FLOW_SPEC_IPV6, sizeof(struct ib_flow_spec_ipv6), true,
	  flow_ipv6 },
	{ IB_FLOW_SPEC_TCP, sizeof(struct ib_flow_spec_tcp_udp), true,
	  flow_tcp },
	{ IB_FLOW_SPEC_UDP, sizeof(struct ib_flow_spec_tcp_udp), true,
	  flow_udp },
	{ IB_FLOW_SPEC_ACTION_TAG, sizeof(struct ib_flow_spec_action_tag),
	  false, flow_tag },
	{ IB_FLOW_SPEC_ACTION_DROP, sizeof(struct ib_flow_spec_action_drop),
	  false, flow_drop },
	{ IB_FLOW_SPEC_ACTION_COUNT, sizeof(struct ib_flow_spec_action_count),
	  false, flow_count },
};

/* Adds a spec to the rule, at most one of each kind; @seen: bitmap of kinds, by row. */
static int flow_put(struct srnic_rule *rule, const union ib_flow_spec *spec,
		    u32 *seen)
{
	const struct flow_spec *row;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(flow_specs); i++)
		if (flow_specs[i].type == spec->type)
			break;
	if (i == ARRAY_SIZE(flow_specs))
		return -EOPNOTSUPP;

	row = &flow_specs[i];
	if (spec->size != row->size || *seen & BIT(i) ||
	    (row->filter && rule->kind != SRNIC_RULE_NORMAL))
		return -EINVAL;
	*seen |= BIT(i);

	return row->put(rule, spec);
}

static int flow_put_all(struct srnic_rule *rule,
			const struct ib_flow_attr *attr)
{
	const void *next = attr + 1;
	const void *end = (const void *)attr + attr->size;
	u32 seen = 0;
	int err;
	u8 i;

	for (i = 0; i < attr->num_of_specs; i++) {
		const union ib_flow_spec *spec = next;

		if (next + offsetofend(union ib_flow_spec, size) > end ||
		    next + spec->size > end)
			return -EINVAL;
		err = flow_put(rule, spec, &seen);
		if (err)
			return err;
		next += spec->size;
	}

	return 0;
}

/* Rejects contradictory rules and clears the value bits that are masked out. */
static int flow_finish(struct srnic_rule *rule)
{
	struct srnic_match *match = &rule->match;
	u8 *mask = (u8 *)&match->mask;
	u8 *val = (u8 *)&match->val;
	int err = 0;
	size_t i;

	if (match->val.has & SRNIC_HAS_IPV4)
		err = flow_need_type(match, ETH_P_IP);
	else if (match->val.has & SRNIC_HAS_IPV6)
		err = flow_need_type(match, ETH_P_IPV6);
	if (err)
		return err;
	/* A rule that drops cannot be "don't trap", and default rules must not drop. */
	if (rule->drop && (rule->dont_trap || rule->kind != SRNIC_RULE_NORMAL))
		return -EINVAL;

	for (i = 0; i < sizeof(match->val); i++)
		val[i] &= mask[i];

	return 0;
}

static const u8 flow_kinds[] = {
	[IB_FLOW_ATTR_NORMAL]		= SRNIC_RULE_NORMAL,
	[IB_FLOW_ATTR_ALL_DEFAULT]	= SRNIC_RULE_ALL_DEFAULT,
	[IB_FLOW_ATTR_MC_DEFAULT]	= SRNIC_RULE_MC_DEFAULT,
	[IB_FLOW_ATTR_SNIFFER]		= SRNIC_RULE_SNIFFER,
};

static int flow_check(struct ib_qp *ibqp, const struct ib_flow_attr *attr)
{
	if (ibqp->qp_type != IB_QPT_RAW_PACKET ||
	    attr->flags & ~IB_FLOW_ATTR_FLAGS_DONT_TRAP) {
		ibdev_dbg(ibqp->device, "flow: QP type %d, flags %#x not supported\n",
			  ibqp->qp_type, attr->flags);
		return -EOPNOTSUPP;
	}
	if (!srnic_may_have_frames(to_dev(ibqp->device))) {
		ibdev_dbg(ibqp->device, "flow: raw packets need CAP_NET_RAW in the namespace of the netdev\n");
		return -EPERM;
	}
	if ((unsigned int)attr->type >= ARRAY_SIZE(flow_kinds) ||
	    (attr->type != IB_FLOW_ATTR_NORMAL && attr->flags)) {
		ibdev_dbg(ibqp->device, "flow: type %d with flags %#x\n",
			  attr->type, attr->flags);
		return -EINVAL;
	}

	return 0;
}

/*
 * Frames that match a default or sniffer rule also go to the host, as on a NIC
 * whose netdev has rules of its own ahead of these.
 */
static int flow_compile(struct srnic_rule *rule,
			const struct ib_flow_attr *attr)
{
	int err;

	rule->kind = flow_kinds[attr->type];
	rule->priority = attr->priority;
	rule->dont_trap = rule->kind != SRNIC_RULE_NORMAL ||
			  attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP;
	err = flow_put_all(rule, attr);
	if (err)
		return err;
	if (rule->kind == SRNIC_RULE_MC_DEFAULT) {
		rule->match.val.dmac[0] = 1;
		rule->match.mask.dmac[0] = 1;
	}

	return flow_finish(rule);
}

struct ib_flow *srnic_create_flow(struct ib_qp *ibqp,
				  struct ib_flow_attr *attr,
				  struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibqp->device);
	struct srnic_ibflow *flow;
	int err;

	err = flow_check(ibqp, attr);
	if (!err)
		err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);

	flow = kzalloc(sizeof(*flow), GFP_KERNEL_ACCOUNT);
	if (!flow)
		return ERR_PTR(-ENOMEM);

	flow->user = srnic_user_of_udata(udata);
	err = srnic_quota_take(dev, flow->user, SRNIC_Q_FLOW, 1);
	if (err)
		goto err_free;
	flow->rule.target = to_qp(ibqp)->qp;
	err = flow_compile(&flow->rule, attr);
	if (err) {
		ibdev_dbg(ibqp->device, "flow: invalid or unsupported specs\n");
		goto err_quota;
	}
	err = srnic_tap_add(&dev->tap, &flow->rule);
	if (err)
		goto err_quota;

	return &flow->ibflow;

err_quota:
	srnic_quota_give(dev, flow->user, SRNIC_Q_FLOW, 1);
err_free:
	kfree(flow);
	return ERR_PTR(err);
}

int srnic_destroy_flow(struct ib_flow *ibflow)
{
	struct srnic_ibflow *flow = container_of(ibflow, struct srnic_ibflow,
						 ibflow);
	struct srnic_dev *dev = to_dev(ibflow->device);

	srnic_tap_del(&dev->tap, &flow->rule);
	srnic_quota_give(dev, flow->user, SRNIC_Q_FLOW, 1);
	kfree(flow);

	return 0;
}

int srnic_create_counters(struct ib_counters *ibcounters,
			  struct uverbs_attr_bundle *attrs)
{
	struct srnic_ibcounters *counters = to_counters(ibcounters);

	counters->user = srnic_user_of_udata(&attrs->driver_udata);

	return srnic_quota_take(to_dev(ibcounters->device), counters->user,
				SRNIC_Q_COUNTERS, 1);
}

int srnic_destroy_counters(struct ib_counters *ibcounters)
{
	srnic_quota_give(to_dev(ibcounters->device),
			 to_counters(ibcounters)->user, SRNIC_Q_COUNTERS, 1);

	return 0;
}

/* There are two counters, in the order of enum ib_counters_description. */
int srnic_read_counters(struct ib_counters *ibcounters,
			struct ib_counters_read_attr *attr,
			struct uverbs_attr_bundle *attrs)
{
	const struct srnic_rule_counters *counters = &to_counters(ibcounters)->counters;
	const u64 values[] = {
		[IB_COUNTER_PACKETS]	= atomic64_read(&counters->frames),
		[IB_COUNTER_BYTES]	= atomic64_read(&counters->bytes),
	};

	if (attr->ncounters > ARRAY_SIZE(values))
		return -EINVAL;
	memcpy(attr->counters_buff, values, attr->ncounters * sizeof(u64));

	return 0;
}
