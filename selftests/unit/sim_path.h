/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - one direction of a simulated path: a policer, a queue, a line, losses and delays
 *
 * All times are ns, all sizes bytes including headers.
 */
#ifndef SRNIC_UNIT_SIM_PATH_H
#define SRNIC_UNIT_SIM_PATH_H

#include <linux/kernel.h>
#include <linux/time64.h>

#include "rand.h"

#define SIM_HEADERS	62	/* bytes, Ethernet to ICRC */

/**
 * struct sim_path - one direction; probabilities are of 1,000,000
 * @rate: bytes per second, 0: unlimited
 * @delay: ns
 * @jitter: maximum additional delay at random, ns
 * @fifo: @jitter delays all that follow, so that it reorders nothing
 * @queue: maximum bytes queued because of @rate, 0: unlimited
 * @mark: bytes queued from which packets are marked (ECN), 0: none are
 * @police: rate of a token bucket that drops what exceeds it, bytes per second; 0: none
 * @bucket: its size, bytes
 * @loss: probability that a packet is lost
 * @burst: consecutive packets lost with it; 0 and 1: none
 * @reorder: probability that a packet overtakes others by up to 1 ms
 * @dup: probability that a packet arrives twice
 * @lose: number of the packet that is lost, counted from 1; 0: none
 * @free_at: when the queue is empty, ns
 * @last_at: when the last packet arrives, ns
 * @tokens: bytes that may pass the policer
 * @tokens_at: when @tokens was right, ns
 * @losing: packets still to be lost in the current burst
 * @num: packets so far
 * @lost: PSNs lost, or dropped
 */
struct sim_path {
	u64	rate;
	u64	delay;
	u64	jitter;
	bool	fifo;
	u64	queue;
	u64	mark;
	u64	police;
	u64	bucket;
	u32	loss;
	u32	burst;
	u32	reorder;
	u32	dup;
	u32	lose;

	u64	free_at;
	u64	last_at;
	double	tokens;
	u64	tokens_at;
	u32	losing;
	u32	num;
	u64	lost;
};

/* What happens to a packet: when it arrives, ns, 0: it is lost; whether it is marked */
struct sim_fate {
	u64	at;
	bool	marked;
};

static inline bool sim_chance(u32 of)
{
	return of && rand32() % 1000000 < of;
}

static inline bool sim_path_is_policed(struct sim_path *p, u32 bytes, u64 now)
{
	if (!p->police)
		return false;
	if (!p->tokens_at)
		p->tokens = p->bucket;
	else
		p->tokens += (now - p->tokens_at) * (p->police / 1e9);
	if (p->tokens > p->bucket)
		p->tokens = p->bucket;
	p->tokens_at = now;
	if (p->tokens < bytes)
		return true;
	p->tokens -= bytes;

	return false;
}

static inline bool sim_path_is_lost(struct sim_path *p)
{
	if (p->losing) {
		p->losing--;
		return true;
	}
	if (++p->num == p->lose)
		return true;
	if (!sim_chance(p->loss))
		return false;
	p->losing = max(p->burst, 1U) - 1;

	return true;
}

static inline u64 sim_path_delay(const struct sim_path *p, u64 more)
{
	u64 delay = p->delay + more;

	if (sim_chance(p->reorder))
		delay -= min(delay, (u64)NSEC_PER_MSEC);
	if (p->jitter)
		delay += rand64() % p->jitter;

	return delay;
}

/**
 * sim_path_send() - send a packet over the path
 * @p: the path
 * @bytes: size of the packet
 * @more: delay added to that of the path, ns
 * @dark: whatever leaves the queue is lost
 * @now: time
 *
 * Return: its fate.
 */
static inline struct sim_fate sim_path_send(struct sim_path *p, u32 bytes, u64 more,
					    bool dark, u64 now)
{
	u64 start = max(now, p->free_at);
	u64 waiting = p->rate ? (start - now) * (p->rate / 1000) / NSEC_PER_MSEC : 0;
	struct sim_fate fate = {};

	if (sim_path_is_policed(p, bytes, now))
		return fate;
	if (p->queue && waiting / 1000 * 1000 + bytes > p->queue)
		return fate;
	p->free_at = start + (p->rate ? (u64)bytes * NSEC_PER_SEC / p->rate : 0);
	if (dark || sim_path_is_lost(p))
		return fate;
	fate.at = p->free_at + sim_path_delay(p, more);
	if (p->fifo)
		fate.at = max(fate.at, p->last_at);
	p->last_at = fate.at;
	fate.marked = p->mark && waiting > p->mark;

	return fate;
}

#endif /* SRNIC_UNIT_SIM_PATH_H */
