// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - counters as shown by "rdma statistic" and sysfs
 *
 * A queue pair counts in the set of its device, or in that of the counter to which
 * it is bound.  For the port, the core shows the sum of all sets, including freed
 * ones, so all sets have the same layout.
 */
#include <linux/slab.h>

#include "verbs.h"

/* Sums of counters, with the names that other drivers and monitoring tools use */
enum counter_shown {
	SUM_TX_PKTS = SRNIC_CNT_NUM,
	SUM_TX_BYTES,
	SUM_RX_PKTS,
	SUM_RX_BYTES,
	SUM_RX_DROPS,
	OF_NET_TX_UNPRIVILEGED,		/* not a sum: a counter of the namespace */
	SHOWN_NUM
};

#define X(field, text) [SRNIC_CNT_##field].name = text,
static const struct rdma_stat_desc counter_descs[SHOWN_NUM] = {
	SRNIC_COUNTERS(X)
	[SUM_TX_PKTS].name	= "tx_pkts",
	[SUM_TX_BYTES].name	= "tx_bytes",
	[SUM_RX_PKTS].name	= "rx_pkts",
	[SUM_RX_BYTES].name	= "rx_bytes",
	[SUM_RX_DROPS].name	= "rx_drops",
	[OF_NET_TX_UNPRIVILEGED].name = SRNIC_TX_UNPRIVILEGED,
};
#undef X

static const struct {
	u8	sum;
	u8	counter;
} counter_addends[] = {
	{ SUM_TX_PKTS,	SRNIC_CNT_SENT_PKTS },
	{ SUM_TX_BYTES,	SRNIC_CNT_SENT_BYTES },
	{ SUM_RX_PKTS,	SRNIC_CNT_RCVD_PKTS },
	{ SUM_RX_BYTES,	SRNIC_CNT_RCVD_BYTES },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_ICRC },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_MALFORMED },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_BAD_PKEY },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_BAD_QKEY },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_BAD_ADDR },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_BAD_STATE },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_NOBUF },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_EARLY },
	{ SUM_RX_DROPS,	SRNIC_CNT_RX_TOO_LONG },
};

static_assert(SHOWN_NUM <= U8_MAX);

static void counters_show(struct rdma_hw_stats *stats,
			  struct srnic_stats __percpu *set)
{
	int i;

	for (i = 0; i < SRNIC_CNT_NUM; i++)
		stats->value[i] = srnic_stats_sum(set, i);
	for (; i < SHOWN_NUM; i++)
		stats->value[i] = 0;
	for (i = 0; i < ARRAY_SIZE(counter_addends); i++)
		stats->value[counter_addends[i].sum] +=
			stats->value[counter_addends[i].counter];
}

struct rdma_hw_stats *srnic_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port)
{
	return rdma_alloc_hw_stats_struct(counter_descs,
					  ARRAY_SIZE(counter_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int srnic_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	struct srnic_dev *dev = to_dev(ibdev);

	if (!port || !stats)
		return -EINVAL;

	counters_show(stats, dev->stats);
	stats->value[OF_NET_TX_UNPRIVILEGED] = srnic_tx_unprivileged(dev->net);

	return SHOWN_NUM;
}

/* Counters that exist per port, and not per struct rdma_counter */
static const u8 counter_of_device[] = {
	SRNIC_CNT_LINK_DOWNED,
	SRNIC_CNT_RX_BAD_PKEY,
	SRNIC_CNT_RX_BAD_QKEY,
	OF_NET_TX_UNPRIVILEGED,
};

/* Counters incremented by the queue pairs bound to one struct rdma_counter */
struct counter_set {
	struct srnic_stats __percpu	*stats;
};

static struct counter_set *counter_set(struct rdma_counter *counter)
{
	return xa_load(&to_dev(counter->device)->counter_sets, counter->id);
}

struct rdma_hw_stats *srnic_counter_alloc_stats(struct rdma_counter *counter)
{
	struct rdma_hw_stats *stats;
	int i;

	stats = rdma_alloc_hw_stats_struct(counter_descs,
					   ARRAY_SIZE(counter_descs),
					   RDMA_HW_STATS_DEFAULT_LIFESPAN);
	if (!stats)
		return NULL;

	for (i = 0; i < ARRAY_SIZE(counter_of_device); i++)
		SRNIC_STAT_DISABLE(stats, counter_of_device[i]);

	return stats;
}

static void counter_set_free(struct counter_set *set)
{
	free_percpu(set->stats);
	kfree(set);
}

void srnic_port_counters(struct srnic_dev *dev, const u8 *what, unsigned int num,
			 u64 *sums)
{
	struct counter_set *set;
	unsigned long id;
	unsigned int i;

	mutex_lock(&dev->counter_lock);
	for (i = 0; i < num; i++)
		sums[what[i]] = dev->counter_past[what[i]];
	srnic_stats_add(dev->stats, what, num, sums);
	xa_for_each(&dev->counter_sets, id, set) {
		srnic_stats_add(set->stats, what, num, sums);
		cond_resched();
	}
	mutex_unlock(&dev->counter_lock);
}

/* Allocates a set for @counter, and the id under which users see the counter. */
static int counter_set_new(struct rdma_counter *counter)
{
	struct srnic_dev *dev = to_dev(counter->device);
	struct counter_set *set;
	int err;

	set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
	if (!set)
		return -ENOMEM;
	set->stats = alloc_percpu_gfp(struct srnic_stats, GFP_KERNEL_ACCOUNT);
	if (!set->stats) {
		kfree(set);
		return -ENOMEM;
	}

	err = xa_alloc(&dev->counter_sets, &counter->id, set, xa_limit_31b,
		       GFP_KERNEL_ACCOUNT);
	if (err)
		counter_set_free(set);

	return err;
}

static int counter_bind(struct srnic_ibqp *qp,
			struct srnic_stats __percpu *set)
{
	int err = -ENODEV;

	mutex_lock(&qp->lock);
	if (qp->qp) {
		srnic_qp_count_in(qp->qp, set);
		err = 0;
	}
	mutex_unlock(&qp->lock);

	return err;
}

/* Binding the first queue pair of a counter allocates its set. */
int srnic_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp,
			  u32 port)
{
	bool first = !counter->id;
	int err;

	if (first) {
		err = counter_set_new(counter);
		if (err)
			return err;
	}
	err = counter_bind(to_qp(ibqp), counter_set(counter)->stats);
	if (err && first) {
		srnic_counter_dealloc(counter);
		counter->id = 0;
	}
	if (!err)
		ibqp->counter = counter;

	return err;
}

int srnic_counter_unbind_qp(struct ib_qp *ibqp, u32 port)
{
	counter_bind(to_qp(ibqp), to_dev(ibqp->device)->stats);
	ibqp->counter = NULL;

	return 0;
}

int srnic_counter_update_stats(struct rdma_counter *counter)
{
	counters_show(counter->stats, counter_set(counter)->stats);

	return 0;
}

int srnic_counter_dealloc(struct rdma_counter *counter)
{
	struct srnic_dev *dev = to_dev(counter->device);
	struct counter_set *set = counter_set(counter);
	int i;

	synchronize_rcu();	/* packets of its queue pairs may still be counting */
	mutex_lock(&dev->counter_lock);
	xa_erase(&dev->counter_sets, counter->id);
	for (i = 0; i < SRNIC_CNT_NUM; i++)
		dev->counter_past[i] += srnic_stats_sum(set->stats, i);
	mutex_unlock(&dev->counter_lock);
	counter_set_free(set);

	return 0;
}

/* There is no driver state to initialise. */
void srnic_counter_init(struct rdma_counter *counter)
{
}
