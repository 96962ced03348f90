/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: what is on the way, and what is done when no answer comes
 */
#ifndef SRNIC_XPORT_FLIGHT_H
#define SRNIC_XPORT_FLIGHT_H

#include "qp.h"

/* PSNs a requester has outstanding; it asks for an ACK four times in that */
#define SRNIC_WINDOW		128

/* PSNs of the answer that one READ request asks for */
#define SRNIC_READ_PSNS		SRNIC_WINDOW

/* The next packet to send is @psn. */
void srnic_flight_seek(struct srnic_qp *qp, u32 psn);

/*
 * @gap packets from @una on were lost, 0: it is not known how many.  Goes back there;
 * with no retry left the QP fails instead.
 */
void srnic_flight_retry(struct srnic_qp *qp, u32 gap);

/* May another packet be on the way?  Pure. */
bool srnic_flight_open(const struct srnic_req *req);

/* Of how many PSNs a request for a READ from @psn on may ask the answer.  Pure. */
u32 srnic_flight_room(const struct srnic_req *req, u32 psn);

/* Is an acknowledgment wanted of the packet being sent, @last of @wqe or not? */
bool srnic_flight_wants_ack(struct srnic_qp *qp, const struct srnic_swqe *wqe,
			    bool last);

/* The packet being sent asks for an answer, which covers all before @end. */
void srnic_flight_asks(struct srnic_req *req, u32 end);

/* All before @psn is acknowledged, which it was not before: it is @una. */
void srnic_flight_acked(struct srnic_qp *qp, u32 psn);

/* The timer is off since a page was being fetched, and the page is here? */
bool srnic_flight_is_back(const struct srnic_qp *qp);

/* Restarts the timer: the peer is alive. */
void srnic_flight_progress(struct srnic_qp *qp);

/* Something waits for an acknowledgment: do not wait to ask for it. */
void srnic_flight_hurry(struct srnic_qp *qp);

/* The timer has fired. */
void srnic_flight_timeout(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_FLIGHT_H */
