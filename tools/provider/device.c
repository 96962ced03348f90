// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - device, context, mappings of rings, address handles
 */
#define _GNU_SOURCE
#include <config.h>

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat.h"
#include "srnic.h"

struct srnic_get_context {
	struct ibv_get_context			ibv;
	struct srnic_alloc_ucontext		drv;
};

struct srnic_get_context_resp {
	struct ib_uverbs_get_context_resp	ibv;
	struct srnic_alloc_ucontext_resp	drv;
};

struct srnic_create_ah_cmd_resp {
	struct ib_uverbs_create_ah_resp		ibv;
	struct srnic_create_ah_resp		drv;
};

#define ROOM_MAX_ENTRIES	4194304	/* limit of the kernel for any queue */
#define REMAP_TRIES		100
#define REMAP_WAIT_US		1000

/* Offsets of mappings exceed 2 GiB. */
static_assert(sizeof(off_t) == sizeof(uint64_t), "off_t");

/* @start: address to map at, replacing what is mapped there, or NULL for any address */
static int ring_mmap(struct srnic_ring *ring, int fd,
		     const struct srnic_map *map, void *start)
{
	void *mem;

	mem = mmap(start, map->length, PROT_READ | PROT_WRITE,
		   MAP_SHARED | (start ? MAP_FIXED : 0), fd, map->offset);
	if (mem == MAP_FAILED)
		return errno;

	ring->hdr = mem;
	ring->length = map->length;
	ring->mask = map->entries - 1;
	ring->stride = map->stride;

	return 0;
}

int srnic_ring_map(struct srnic_ring *ring, int fd, const struct srnic_map *map)
{
	int err;

	if (!map->length)
		return 0;
	err = ring_mmap(ring, fd, map, NULL);
	if (err)
		return err;
	srnic_ring_reset(ring);

	return pthread_spin_init(&ring->lock, PTHREAD_PROCESS_PRIVATE);
}

/* Rounds as the kernel does: entries to a power of two, the size to whole pages. */
int srnic_room_take(struct srnic_room *room, const struct srnic_ring *ring,
		    uint32_t entries)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint64_t length, rounded = 1;
	void *mem;

	room->start = NULL;
	if (entries > ROOM_MAX_ENTRIES)
		return 0;	/* the kernel rejects it */

	while (rounded < entries)
		rounded *= 2;
	length = SRNIC_RING_ENTRIES + rounded * ring->stride;
	length = (length + page - 1) & ~(uint64_t)(page - 1);
	if (length > SIZE_MAX)
		return ENOMEM;

	mem = mmap(NULL, length, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return errno;
	room->start = mem;
	room->length = length;

	return 0;
}

void srnic_room_drop(struct srnic_room *room)
{
	if (room->start)
		munmap(room->start, room->length);
	room->start = NULL;
}

int srnic_ring_remap(struct srnic_ring *ring, int fd,
		     const struct srnic_map *map, struct srnic_room *room)
{
	struct srnic_ring_hdr *old = ring->hdr;
	size_t old_length = ring->length;
	int tries = REMAP_TRIES;
	void *start;
	int err;

	if (map->length != room->length)
		srnic_room_drop(room);
	/* If MAP_FIXED fails, the range may be unmapped and in use by another thread. */
	start = room->start;
	room->start = NULL;
	err = ring_mmap(ring, fd, map, start);
	/* The kernel has switched rings, so the queue is unusable without this mapping. */
	while ((err == ENOMEM || err == EAGAIN) && --tries) {
		usleep(REMAP_WAIT_US);
		err = ring_mmap(ring, fd, map, NULL);
	}
	if (!err)
		munmap(old, old_length);

	return err;
}

void srnic_ring_unmap(struct srnic_ring *ring)
{
	if (!ring->hdr)
		return;
	pthread_spin_destroy(&ring->lock);
	munmap(ring->hdr, ring->length);
	ring->hdr = NULL;
}

static int srnic_query_device(struct ibv_context *ctx,
			      const struct ibv_query_device_ex_input *input,
			      struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int err;

	err = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (err)
		return err;

	/* The kernel does not report these; early callers pass a smaller structure. */
	if (attr_size >= offsetof(struct ibv_device_attr_ex, max_wq_type_rq) &&
	    attr->rss_caps.supported_qpts) {
		attr->rss_caps.rx_hash_fields_mask = SRNIC_RX_HASH_FIELDS;
		attr->rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
	}

	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(fw >> 32) & 0xffff,
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff);

	return 0;
}

static int srnic_query_port(struct ibv_context *ctx, uint8_t port,
			    struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(ctx, port, attr, &cmd, sizeof(cmd));
}

static struct ibv_ah *srnic_create_ah(struct ibv_pd *pd,
				      struct ibv_ah_attr *attr)
{
	struct srnic_create_ah_cmd_resp resp;
	struct srnic_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	err = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv, sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	ah->index = resp.drv.ah;

	return &ah->ah;
}

static int srnic_destroy_ah(struct ibv_ah *ah)
{
	int err = ibv_cmd_destroy_ah(ah);

	if (!err)
		free(to_srnic_ah(ah));

	return err;
}

static void srnic_free_context(struct ibv_context *ctx)
{
	struct srnic_context *sctx = to_srnic_ctx(ctx);

	verbs_uninit_context(&sctx->vctx);
	free(sctx);
}

static const struct verbs_context_ops srnic_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = srnic_alloc_dm,
	.alloc_mw = srnic_alloc_mw,
	.alloc_null_mr = srnic_alloc_null_mr,
	.alloc_parent_domain = srnic_alloc_parent_domain,
	.alloc_pd = srnic_alloc_pd,
	.alloc_td = srnic_alloc_td,
	.attach_counters_point_flow = srnic_attach_counters,
	.attach_mcast = ibv_cmd_attach_mcast,
	.close_xrcd = srnic_close_xrcd,
	.bind_mw = srnic_bind_mw,
	.create_ah = srnic_create_ah,
	.create_counters = srnic_create_counters,
	.create_cq = srnic_create_cq,
	.create_cq_ex = srnic_create_cq_ex,
	.create_flow = srnic_create_flow,
	.create_qp = srnic_create_qp,
	.create_qp_ex = srnic_create_qp_ex,
	.create_rwq_ind_table = srnic_create_rwq_ind_table,
	.create_srq = srnic_create_srq,
	.create_srq_ex = srnic_create_srq_ex,
	.create_wq = srnic_create_wq,
	.dealloc_mw = srnic_dealloc_mw,
	.dealloc_pd = srnic_dealloc_pd,
	.dealloc_td = srnic_dealloc_td,
	.dereg_mr = srnic_dereg_mr,
	.destroy_ah = srnic_destroy_ah,
	.destroy_counters = srnic_destroy_counters,
	.destroy_cq = srnic_destroy_cq,
	.destroy_flow = srnic_destroy_flow,
	.destroy_qp = srnic_destroy_qp,
	.destroy_rwq_ind_table = srnic_destroy_rwq_ind_table,
	.destroy_srq = srnic_destroy_srq,
	.destroy_wq = srnic_destroy_wq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = srnic_free_context,
	.get_srq_num = srnic_get_srq_num,
	.free_dm = srnic_free_dm,
	.import_dm = srnic_import_dm,
	.import_mr = srnic_import_mr,
	.import_pd = srnic_import_pd,
	.modify_cq = srnic_modify_cq,
	.modify_qp = srnic_modify_qp,
	.modify_srq = srnic_modify_srq,
	.modify_wq = srnic_modify_wq,
	.open_qp = srnic_open_qp,
	.open_xrcd = srnic_open_xrcd,
	.poll_cq = srnic_poll_cq,
	.post_recv = srnic_post_recv,
	.post_send = srnic_post_send,
	.post_srq_recv = srnic_post_srq_recv,
	.query_device_ex = srnic_query_device,
	.query_port = srnic_query_port,
	SRNIC_QUERY_PORT_SPEED
	.query_qp = srnic_query_qp,
	.query_rt_values = srnic_query_rt_values,
	.query_srq = srnic_query_srq,
	.read_counters = srnic_read_counters,
	.reg_dm_mr = srnic_reg_dm_mr,
	.reg_dmabuf_mr = srnic_reg_dmabuf_mr,
	.reg_mr = srnic_reg_mr,
	.req_notify_cq = srnic_req_notify_cq,
	.rereg_mr = srnic_rereg_mr,
	.resize_cq = srnic_resize_cq,
	.unimport_dm = srnic_unimport_dm,
	.unimport_mr = srnic_unimport_mr,
	.unimport_pd = srnic_unimport_pd,
};

/* How long to poll send queues, if the user has said so; see srnic(7). */
static uint32_t poll_usecs(void)
{
	const char *text = secure_getenv("SRNIC_POLL_USECS");
	unsigned long usecs = text ? strtoul(text, NULL, 0) : 0;

	return usecs < UINT32_MAX ? usecs : UINT32_MAX;
}

static struct verbs_context *srnic_alloc_context(struct ibv_device *device,
						 int cmd_fd,
						 void *private_data)
{
	struct srnic_get_context cmd = { .drv.poll_usecs = poll_usecs() };
	struct srnic_get_context_resp resp = {};
	struct srnic_context *sctx;
	int err;

	(void)private_data;
	sctx = verbs_init_and_alloc_context(device, cmd_fd, sctx, vctx,
					    SRNIC_DRIVER_ID);
	if (!sctx)
		return NULL;
	err = srnic_cmd_get_context(&sctx->vctx, &cmd.ibv, sizeof(cmd),
				    &resp.ibv, sizeof(resp));
	if (err == EOPNOTSUPP && cmd.drv.poll_usecs) {
		cmd.drv.poll_usecs = 0;	/* an older module */
		err = srnic_cmd_get_context(&sctx->vctx, &cmd.ibv, sizeof(cmd),
					    &resp.ibv, sizeof(resp));
	}
	if (err) {
		verbs_uninit_context(&sctx->vctx);
		free(sctx);
		return NULL;
	}
	verbs_set_ops(&sctx->vctx, &srnic_ops);

	return &sctx->vctx;
}

/* @cmd_fd was opened by another process, or by another library in this process. */
static struct verbs_context *srnic_import_context(struct ibv_device *device,
						  int cmd_fd)
{
	struct srnic_context *sctx;
	int err;

	sctx = verbs_init_and_alloc_context(device, cmd_fd, sctx, vctx,
					    SRNIC_DRIVER_ID);
	if (!sctx)
		return NULL;
	err = ibv_cmd_query_context(&sctx->vctx.context, NULL);
	if (err) {
		verbs_uninit_context(&sctx->vctx);
		free(sctx);
		errno = err;
		return NULL;
	}
	verbs_set_ops(&sctx->vctx, &srnic_ops);

	return &sctx->vctx;
}

static struct verbs_device *srnic_alloc_device(struct verbs_sysfs_dev *sysfs)
{
	(void)sysfs;

	return calloc(1, sizeof(struct verbs_device));
}

static void srnic_uninit_device(struct verbs_device *device)
{
	free(device);
}

/*
 * node_desc is used only if the kernel reports no driver ID: administrators may change
 * it, and rdma-ndd sets it to the host name.
 */
static bool srnic_match_device(struct verbs_sysfs_dev *sysfs)
{
	char desc[64];

	if (sysfs->match)
		return true;
	if (sysfs->driver_id != RDMA_DRIVER_UNKNOWN)
		return false;
	if (ibv_read_ibdev_sysfs_file(desc, sizeof(desc), sysfs, "node_desc") <= 0)
		return false;

	return !strncmp(desc, SRNIC_NODE_DESC, strlen(SRNIC_NODE_DESC));
}

static const struct verbs_match_ent srnic_match[] = {
	VERBS_DRIVER_ID(SRNIC_DRIVER_ID),
	{},
};

static const struct verbs_device_ops srnic_dev_ops = {
	.name = "srnic",
	.match_min_abi_version = SRNIC_ABI_VERSION,
	.match_max_abi_version = SRNIC_ABI_VERSION,
	.match_table = srnic_match,
	.match_device = srnic_match_device,
	.alloc_device = srnic_alloc_device,
	.uninit_device = srnic_uninit_device,
	.alloc_context = srnic_alloc_context,
	.import_context = srnic_import_context,
};

static __attribute__((constructor)) void srnic_register(void)
{
	if (srnic_compat_init())
		verbs_register_driver(&srnic_dev_ops);
}
