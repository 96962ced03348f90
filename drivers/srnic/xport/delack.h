/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - when a responder acknowledges: at once, or together with a request of its own
 *
 * Where two ends answer each other, as in remote procedure calls, the ACK of a message can
 * leave with the answer, in one GSO chain: one trip through the stack and one interrupt of
 * the peer instead of two.  An ACK waits for this only after several messages in a row have
 * been answered.  If the answer then fails to come, or is often slow, twice as many are
 * required, as the peer may have to wait for the ACK before it does something else.
 *
 * Pure: values in, values out.  Times are in ns.
 */
#ifndef SRNIC_XPORT_DELACK_H
#define SRNIC_XPORT_DELACK_H

#include <linux/types.h>

/**
 * struct srnic_delack - the acknowledgment that a responder owes; written by delack.c only
 * @due: it is owed
 * @urgent: it must not wait
 * @repeated: the peer has sent a message again
 * @answered: a request has been sent since the last ACK became due
 * @fails: how often ACKs have waited in vain, less what has been made up for
 * @slow: the same for answers that were slow
 * @runs: messages answered in a row
 * @prompt: until when an answer is worth the wait
 * @deadline: when it is sent at the latest; 0: it does not wait
 */
struct srnic_delack {
	bool	due;
	bool	urgent;
	bool	repeated;
	bool	answered;
	u8	fails;
	u8	slow;
	u32	runs;
	u64	prompt;
	u64	deadline;
};

/* A message requests an ACK. */
void srnic_delack_owe(struct srnic_delack *ack);

/* A packet in the middle of a message requests one. */
void srnic_delack_owe_at_once(struct srnic_delack *ack);

/* A duplicate requests one: if an ACK waits, it has waited for too long. */
void srnic_delack_owe_again(struct srnic_delack *ack);

/* A request has been sent, not only retransmitted. */
void srnic_delack_answered(struct srnic_delack *ack);

/*
 * How long an ACK waits at most, by the ACK timeout of the queue pair, or 0.  To save
 * interrupts it may be sent as much again later.
 */
u64 srnic_delack_limit(u64 timeout);

/**
 * srnic_delack_waits - should the ACK that is due wait for a request?
 * @ack: the ACK
 * @timeout: ACK timeout of the queue pair, which may be that of its peer; 0: none
 * @now: time
 *
 * Return: true until @ack->deadline, which is set.  False: it is to be sent now.
 */
bool srnic_delack_waits(struct srnic_delack *ack, u64 timeout, u64 now);

/* The ACK, which has waited, is sent.  Return: is it late?  Then fewer wait. */
bool srnic_delack_leaves(struct srnic_delack *ack, u64 now);

/* The ACK has been sent, or another packet acknowledges as much. */
void srnic_delack_done(struct srnic_delack *ack);

#endif /* SRNIC_XPORT_DELACK_H */
