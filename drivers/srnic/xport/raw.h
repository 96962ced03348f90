/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - raw packet queue pairs: whole Ethernet frames
 */
#ifndef SRNIC_XPORT_RAW_H
#define SRNIC_XPORT_RAW_H

#include "../tap/tap.h"
#include "outcome.h"
#include "qp.h"

enum srnic_outcome srnic_raw_send(struct srnic_qp *qp,
				  const struct srnic_swqe *wqe);

enum srnic_outcome srnic_raw_rx(struct srnic_qp *qp, struct sk_buff *skb);

/* Delivers a frame to the QP @target; see srnic_frame_fn. */
void srnic_raw_frame(void *target, struct sk_buff *skb,
		     const struct srnic_frame *frame, bool later);

#endif /* SRNIC_XPORT_RAW_H */
