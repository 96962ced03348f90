// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - XRC domains, and handles to the target queue pairs in them
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "srnic.h"

struct ibv_xrcd *srnic_open_xrcd(struct ibv_context *ctx,
				 struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp;
	struct verbs_xrcd *xrcd;
	struct ibv_open_xrcd cmd;
	int err;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	err = ibv_cmd_open_xrcd(ctx, xrcd, sizeof(*xrcd), attr, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(xrcd);
		errno = err;
		return NULL;
	}

	return &xrcd->xrcd;
}

int srnic_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err = ibv_cmd_close_xrcd(xrcd);

	if (!err)
		free(xrcd);

	return err;
}

/* An XRC target has no rings: the sender of a message names the SRQ that receives it. */
struct ibv_qp *srnic_open_qp(struct ibv_context *ctx,
			     struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp;
	struct ibv_open_qp cmd;
	struct srnic_qp *qp;
	int err;

	qp = srnic_obj_alloc(NULL, sizeof(*qp), SRNIC_RES_QP);
	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(ctx, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		srnic_obj_free(&qp->obj);
		errno = err;
		return NULL;
	}

	return &qp->vqp.qp;
}
