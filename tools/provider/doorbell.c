// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - doorbells: post commands without work requests, which make the
 * kernel check the rings
 *
 * write() is faster, but uverbs accepts it only with the credentials that opened the
 * device.  After setuid(), and in a process that imported the device, the same command
 * is passed by ioctl(), which has no such restriction.
 */
#include <config.h>

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "srnic.h"

/* The commands for sends and receives have the same layout. */
struct bell {
	struct ib_uverbs_cmd_hdr	hdr;
	struct ib_uverbs_post_send	core;
};

static_assert(sizeof(struct ib_uverbs_post_send) ==
	      sizeof(struct ib_uverbs_post_recv), "post commands");
static_assert(sizeof(struct ib_uverbs_post_send_resp) ==
	      sizeof(struct ib_uverbs_post_recv_resp), "post responses");
static_assert(sizeof(struct ib_uverbs_send_wr) >=
	      sizeof(struct ib_uverbs_recv_wr), "wqe_size");

/* Return: 0 or errno. */
static int bell_ioctl(struct ibv_context *ctx, struct bell *bell,
		      struct ib_uverbs_post_send_resp *resp)
{
	DECLARE_COMMAND_BUFFER(cmdb, UVERBS_OBJECT_DEVICE,
			       UVERBS_METHOD_INVOKE_WRITE, 3);

	fill_attr_const_in(cmdb, UVERBS_ATTR_WRITE_CMD, bell->hdr.command);
	fill_attr_in(cmdb, UVERBS_ATTR_CORE_IN, &bell->core,
		     sizeof(bell->core));
	fill_attr_out(cmdb, UVERBS_ATTR_CORE_OUT, resp, sizeof(*resp));

	return execute_ioctl(ctx, cmdb);
}

/* Return: 0 or errno. */
static int bell_ring(struct ibv_context *ctx, struct bell *bell,
		     struct ib_uverbs_post_send_resp *resp)
{
	struct srnic_context *sctx = to_srnic_ctx(ctx);

	if (atomic_load_explicit(&sctx->no_write, memory_order_relaxed))
		return bell_ioctl(ctx, bell, resp);
	if (write(ctx->cmd_fd, bell, sizeof(*bell)) == sizeof(*bell))
		return 0;
	if (errno != EACCES)
		return errno;

	atomic_store_explicit(&sctx->no_write, true, memory_order_relaxed);

	return bell_ioctl(ctx, bell, resp);
}

bool srnic_doorbell(struct ibv_qp *qp, uint32_t command)
{
	struct ib_uverbs_post_send_resp resp;
	struct bell bell = {
		.hdr.command = command,
		.hdr.in_words = sizeof(bell) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.core.response = (uintptr_t)&resp,
		.core.qp_handle = qp->handle,
		.core.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	int err;

	/* The work requests are published and cannot be withdrawn, so retry. */
	while ((err = bell_ring(qp->context, &bell, &resp)) == ENOMEM)
		sched_yield();

	return !err;
}
