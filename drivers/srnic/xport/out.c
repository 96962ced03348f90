// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: sending by loopback or as packets
 *
 * The caller does not choose: a peer on the same device is served by loopback if
 * possible, everything else is sent as packets.
 */
#include "cc.h"
#include "flight.h"
#include "loopback.h"
#include "out.h"
#include "outcome.h"
#include "qp.h"
#include "raw.h"
#include "req_wqe.h"
#include "ud.h"
#include "wire.h"

/* Sends a datagram or a frame, which is complete once it has been handed over. */
static enum srnic_outcome out_cast(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe)
{
	enum srnic_outcome outcome;

	outcome = srnic_qp_is_raw(qp) ? srnic_raw_send(qp, wqe) :
					srnic_ud_send(qp, wqe);
	if (outcome)
		return outcome;

	srnic_flight_skip(&qp->req.flight, qp->req.flight.psn);
	srnic_req_complete(qp);

	return SRNIC_DONE;
}

enum srnic_outcome srnic_out_send(struct srnic_qp *qp,
				  const struct srnic_swqe *wqe)
{
	srnic_task_assert_mine(&qp->task);

	if (qp->self && !srnic_loopback_send(qp, wqe))
		return SRNIC_DONE;
	if (!srnic_cc_open(qp) || !srnic_gate_open(&qp->gate))
		return SRNIC_AGAIN;
	if (srnic_qp_is_raw(qp) || srnic_qp_is_datagram(qp))
		return out_cast(qp, wqe);

	return srnic_wire_send(qp, wqe);
}

enum srnic_outcome srnic_out_run(struct srnic_qp *qp)
{
	return srnic_loopback_read(qp);
}
