// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - bursts: packets of one receiver that arrive together
 *
 * A NIC hands over packets one by one, and GRO does not merge those of RoCEv2.  The first
 * one of a receiver in a softirq is processed at once, so that a single packet is not
 * delayed.  The receivers of further ones are added to a list of the CPU, which a NAPI
 * instance of our own processes after those that are being polled: in the same softirq, or
 * in the next one if a NIC exceeds its weight or the kernel is older than 6.4.  If no other
 * packet joins one that waits, as when two queue pairs answer each other, the next few are
 * processed at once.
 */
#include <linux/kernel_stat.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "burst.h"
#include "input.h"
#include "net.h"

/* Packets that do not wait after one that has waited alone */
#define BURST_ALONE	8

/**
 * struct burst_cpu - bursts that wait on one CPU
 * @napi: processes them; scheduled unless both lists are empty
 * @list: those added since the last poll, the newest first
 * @rest: those that exceeded the budget of the last poll; used by the poll only
 */
struct burst_cpu {
	struct napi_struct	napi;
	struct llist_head	list;
	struct llist_node	*rest;
};

static struct burst_cpu __percpu *burst_cpus;

/* NAPI instances belong to a netdev. */
static struct net_device *burst_ndev;

/* Consumes the reference that the list held since srnic_burst_wait(). */
static void burst_run(struct srnic_burst *burst)
{
	WRITE_ONCE(burst->alone, READ_ONCE(burst->more) ? 0 : BURST_ALONE);
	WRITE_ONCE(burst->more, false);
	/* fully ordered: before run() looks for packets */
	atomic_xchg(&burst->queued, 0);
	srnic_rx_ops->run(burst);
}

static int burst_poll(struct napi_struct *napi, int budget)
{
	struct burst_cpu *cpu = container_of(napi, struct burst_cpu, napi);
	struct llist_node *node = cpu->rest;
	int done;

	if (!node)
		node = llist_reverse_order(llist_del_all(&cpu->list));
	for (done = 0; node && done < budget; done++) {
		struct srnic_burst *burst;

		burst = llist_entry(node, struct srnic_burst, node);
		node = node->next;
		burst_run(burst);
	}
	cpu->rest = node;
	/* If more were added meanwhile, they have scheduled the next poll. */
	if (done < budget)
		napi_complete_done(napi, done);

	return done;
}

enum srnic_burst_wait srnic_burst_wait(struct srnic_burst *burst)
{
	struct burst_cpu *cpu = this_cpu_ptr(burst_cpus);
	unsigned int alone, nr;

	if (!in_serving_softirq())
		return SRNIC_BURST_NOW;
	/*
	 * NET_RX softirqs are told apart by their count in /proc/softirqs.  On another CPU, or
	 * after it has wrapped, another softirq may have the same number: a packet then waits
	 * for the end of this softirq unnecessarily.
	 */
	nr = __this_cpu_read(kstat.softirqs[NET_RX_SOFTIRQ]);
	if (READ_ONCE(burst->nr) != nr) {
		WRITE_ONCE(burst->nr, nr);
		return SRNIC_BURST_NOW;
	}
	alone = READ_ONCE(burst->alone);
	if (alone) {
		WRITE_ONCE(burst->alone, alone - 1);
		return SRNIC_BURST_NOW;
	}
	/* fully ordered: after the packet was queued */
	if (atomic_xchg(&burst->queued, 1)) {
		WRITE_ONCE(burst->more, true);
		return SRNIC_BURST_WAITS;
	}
	if (llist_add(&burst->node, &cpu->list))
		napi_schedule(&cpu->napi);

	return SRNIC_BURST_ADDED;
}

int srnic_burst_init(void)
{
	int i;

	burst_cpus = alloc_percpu(struct burst_cpu);
	burst_ndev = alloc_netdev_dummy(0);
	if (!burst_cpus || !burst_ndev)
		goto err_alloc;

	for_each_possible_cpu(i) {
		struct burst_cpu *cpu = per_cpu_ptr(burst_cpus, i);

		init_llist_head(&cpu->list);
		set_bit(NAPI_STATE_NO_BUSY_POLL, &cpu->napi.state);
		netif_napi_add(burst_ndev, &cpu->napi, burst_poll);
		napi_enable(&cpu->napi);
	}

	return 0;

err_alloc:
	if (burst_ndev)
		free_netdev(burst_ndev);
	free_percpu(burst_cpus);
	return -ENOMEM;
}

/* No burst is queued: it would hold a reference on its receiver, and none is left. */
void srnic_burst_exit(void)
{
	int i;

	for_each_possible_cpu(i) {
		struct burst_cpu *cpu = per_cpu_ptr(burst_cpus, i);

		napi_disable(&cpu->napi);
		__netif_napi_del(&cpu->napi);	/* one grace period for all */
	}
	synchronize_net();	/* the stack may still look at the instances */
	free_netdev(burst_ndev);
	free_percpu(burst_cpus);
}
