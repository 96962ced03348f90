/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - completer: acknowledgments and responses in, completions out
 */
#ifndef SRNIC_XPORT_COMPLETER_H
#define SRNIC_XPORT_COMPLETER_H

#include "seg.h"

enum srnic_outcome srnic_comp_packet(struct srnic_qp *qp,
				     const struct srnic_seg *seg);

/* Everything before @psn is acknowledged. */
void srnic_comp_acked(struct srnic_qp *qp, u32 psn);

/* PSN of the next response expected; requests before it need no response. */
u32 srnic_comp_next(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_COMPLETER_H */
