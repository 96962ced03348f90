/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of the responder tell each other
 *
 * responder.c says what happens to a request, recv.c and remote.c do what it
 * asks for, replay.c remembers what was answered.
 */
#ifndef SRNIC_XPORT_RESP_H
#define SRNIC_XPORT_RESP_H

#include "proto.h"

static inline void srnic_resp_put_mr(struct srnic_mr **mr)
{
	if (*mr)
		srnic_mr_put(*mr);
	*mr = NULL;
}

/* What an access came to; @fault if it was refused.  Pure. */
static inline enum srnic_verdict srnic_resp_judge(enum srnic_mem_err err,
						  enum srnic_verdict fault)
{
	if (!err)
		return SRNIC_V_OK;

	return err == SRNIC_MEM_ABSENT ? SRNIC_V_ABSENT : fault;
}

/* responder.c */
/* Makes a verdict known to the peer, the completion queue and the QP. */
void srnic_resp_fail(struct srnic_qp *qp, u32 psn, enum srnic_verdict verdict);

/* recv.c */
/* Turns to the SRQ of @pkt, which stays the same throughout a message. */
enum srnic_verdict srnic_recv_select(struct srnic_qp *qp,
				     const struct srnic_pkt *pkt);
void srnic_recv_give_back(struct srnic_qp *qp);
/* Makes sure that a receive work request is at hand. */
enum srnic_verdict srnic_recv_need(struct srnic_qp *qp);
/* Completes the receive at hand.  False: its SRQ is gone, no one is told. */
bool srnic_recv_cqe(struct srnic_qp *qp, struct srnic_cqe *cqe,
		    bool solicited);
/*
 * Is there a receive for a message of @bytes that nobody will repeat?  What has
 * none, or one that is too short, is dropped and the receive waits for the next:
 * nobody can stop the QP by sending to it.  Only receives that are bad in
 * themselves do.
 */
bool srnic_recv_room(struct srnic_qp *qp, u32 bytes);
/* The message could not be put into it: what becomes of it, and of the QP. */
enum srnic_fate srnic_recv_spoil(struct srnic_qp *qp,
				 enum srnic_verdict verdict);
/* Completes it for a message that is whole, or later if a key must go first. */
void srnic_recv_complete(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			 u32 byte_len);
/* Later is now if the key is gone; true: it was. */
bool srnic_recv_run_late(struct srnic_qp *qp);
/* As srnic_req_flush(). */
bool srnic_recv_flush(struct srnic_qp *qp);
enum srnic_verdict srnic_recv_send(struct srnic_qp *qp,
				   const struct srnic_seg *seg);

/* remote.c */
enum srnic_verdict srnic_remote_write(struct srnic_qp *qp,
				      const struct srnic_seg *seg);
enum srnic_verdict srnic_remote_read(struct srnic_qp *qp,
				     const struct srnic_seg *seg);
/* Starts to send the response to @pkt. */
enum srnic_verdict srnic_remote_read_start(struct srnic_qp *qp,
					   const struct srnic_pkt *pkt);
/* Goes on with it; as srnic_resp_run(). */
bool srnic_remote_run(struct srnic_qp *qp);
enum srnic_verdict srnic_remote_atomic(struct srnic_qp *qp,
				       const struct srnic_seg *seg);
enum srnic_verdict srnic_remote_atomic_write(struct srnic_qp *qp,
					     const struct srnic_seg *seg);
enum srnic_verdict srnic_remote_flush(struct srnic_qp *qp,
				      const struct srnic_seg *seg);

/* PSNs of the response to a READ of @length bytes */
static inline u32 srnic_read_npsn(const struct srnic_qp *qp, u32 length)
{
	return max_t(u32, DIV_ROUND_UP(length, qp->conf.mtu), 1);
}

#endif /* SRNIC_XPORT_RESP_H */
