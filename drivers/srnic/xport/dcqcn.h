/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - DCQCN: how fast a queue pair may send, computed from CNPs and time
 *
 * Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015,
 * section 3, reaction point.  Rates are bytes per second, times are ns of a monotonic
 * clock.  Pure: it reads no clock and takes no lock.
 */
#ifndef SRNIC_XPORT_DCQCN_H
#define SRNIC_XPORT_DCQCN_H

#include <linux/types.h>

/* Line rate, which no host reaches: from here on a queue pair is not limited */
#define SRNIC_DCQCN_LINE	12500000000ULL	/* 100 Gbit/s */

/* alpha is a fraction of this */
#define SRNIC_DCQCN_ONE		65536U

/**
 * struct srnic_dcqcn - the rate of a queue pair
 * @rate: current rate
 * @target: rate that it climbs to
 * @alpha: estimated congestion of the path, up to SRNIC_DCQCN_ONE
 * @cut_at: when the rate was last cut
 * @decay_at: start of the current period of @alpha
 * @rise_at: start of the current period of the rate timer
 * @bytes: bytes sent in the current round of the byte counter
 * @ticks: periods of the rate timer since the last cut
 * @rounds: rounds of the byte counter since the last cut
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

/* Initialises @cc for a CNP received by a free queue pair that sends at @rate. */
void srnic_dcqcn_start(struct srnic_dcqcn *cc, u64 rate, u64 now);

/*
 * Handles a CNP; @rtt is the round trip time, 0: not known.  False: the CNP is ignored,
 * since the previous cut cannot have taken effect yet.
 */
bool srnic_dcqcn_cut(struct srnic_dcqcn *cc, u64 now, u64 rtt);

/*
 * Makes up for the updates due since the last call.  False: the queue pair is free, as
 * the rate is the line rate again or no update was made for DCQCN_IDLE periods.
 */
bool srnic_dcqcn_advance(struct srnic_dcqcn *cc, u64 now, u64 rtt);

/*
 * The bytes of the next burst, a packet of @mtu at least.  It is charged in full to @next, the
 * time of the burst after it; a delay of up to one burst is made up for.
 */
u32 srnic_dcqcn_burst(const struct srnic_dcqcn *cc, u32 mtu, u64 *next, u64 now);

#endif /* SRNIC_XPORT_DCQCN_H */
