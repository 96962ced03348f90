/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - DCQCN: how fast a queue pair may send, from notifications and time
 *
 * Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
 * 2015, section 3, reaction point.  Rates are bytes a second, times are ns of a
 * clock that never goes back.  Pure: it reads no clock and takes no lock.
 */
#ifndef SRNIC_XPORT_DCQCN_H
#define SRNIC_XPORT_DCQCN_H

#include <linux/types.h>

/* A rate that no host reaches: at this one nothing is limited any more */
#define SRNIC_DCQCN_LINE	12500000000ULL	/* 100 Gbit/s */

/* alpha is a fraction of this */
#define SRNIC_DCQCN_ONE		65536U

/**
 * struct srnic_dcqcn - the rate of a queue pair
 * @rate: current rate
 * @target: rate that it climbs to
 * @alpha: how congested the path is thought to be, up to SRNIC_DCQCN_ONE
 * @cut_at: when the rate was cut last
 * @decay_at: when the present period of @alpha began
 * @rise_at: when the present period of the rate timer began
 * @bytes: sent in the present round of the byte counter
 * @ticks: periods of the rate timer since the last cut
 * @rounds: rounds of the byte counter since then
 */
struct srnic_dcqcn {
	u64	rate;
	u64	target;
	u32	alpha;
	u64	cut_at;
	u64	decay_at;
	u64	rise_at;
	u64	bytes;
	u32	ticks;
	u32	rounds;
};

/* The first notification ever finds the queue pair sending at @rate. */
void srnic_dcqcn_start(struct srnic_dcqcn *cc, u64 rate, u64 now);

/*
 * A notification came, @rtt (0: not known) is the round trip.  False: it tells
 * no more than the one before, which cannot have had its effect yet.
 */
bool srnic_dcqcn_cut(struct srnic_dcqcn *cc, u64 now, u64 rtt);

/*
 * What became due since it was asked last.  False: the rate is that of the line,
 * the queue pair is free.
 */
bool srnic_dcqcn_advance(struct srnic_dcqcn *cc, u64 now, u64 rtt);

#endif /* SRNIC_XPORT_DCQCN_H */
