// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - device memory, mapped and accessed by the CPU
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "srnic.h"

/**
 * struct srnic_dm - device memory
 * @vdm: libibverbs' part
 * @start: start of the mapping
 * @mapped: bytes mapped
 * @length: requested size in bytes
 */
struct srnic_dm {
	struct verbs_dm	vdm;
	char		*start;
	size_t		mapped;
	size_t		length;
};

static struct srnic_dm *to_srnic_dm(struct ibv_dm *dm)
{
	return container_of(dm, struct srnic_dm, vdm.dm);
}

#define DM_UNIT	4	/* alignment of offset and length, as in mlx5 */

/* Is the range valid?  Return: 0 or errno. */
static int dm_check(const struct srnic_dm *dm, uint64_t off, size_t length)
{
	if (off > dm->length || length > dm->length - off)
		return EFAULT;
	if (off % DM_UNIT || length % DM_UNIT)
		return EINVAL;

	return 0;
}

static int dm_copy_to(struct ibv_dm *ibdm, uint64_t off, const void *src,
		      size_t length)
{
	struct srnic_dm *dm = to_srnic_dm(ibdm);
	int err = dm_check(dm, off, length);

	if (err)
		return err;
	memcpy(dm->start + off, src, length);

	return 0;
}

static int dm_copy_from(void *dst, struct ibv_dm *ibdm, uint64_t off,
			size_t length)
{
	struct srnic_dm *dm = to_srnic_dm(ibdm);
	int err = dm_check(dm, off, length);

	if (err)
		return err;
	memcpy(dst, dm->start + off, length);

	return 0;
}

/* Return: 0 or errno. */
static int dm_map(struct srnic_dm *dm, int fd, const struct srnic_map *map,
		  uint64_t length)
{
	void *mem = mmap(NULL, map->length, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, map->offset);

	if (mem == MAP_FAILED)
		return errno;

	dm->start = mem;
	dm->mapped = map->length;
	dm->length = length;
	dm->vdm.dm.memcpy_to_dm = dm_copy_to;
	dm->vdm.dm.memcpy_from_dm = dm_copy_from;

	return 0;
}

struct ibv_dm *srnic_alloc_dm(struct ibv_context *ctx,
			      struct ibv_alloc_dm_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmdb, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			       1);
	struct srnic_map map = {};
	struct srnic_dm *dm;
	int err;

	if (!check_comp_mask(attr->comp_mask, 0)) {
		errno = EINVAL;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_out_ptr(cmdb, SRNIC_ATTR_ALLOC_DM_MAP, &map);
	err = ibv_cmd_alloc_dm(ctx, attr, &dm->vdm, cmdb);
	if (err)
		goto err_free;
	err = dm_map(dm, ctx->cmd_fd, &map, attr->length);
	if (err)
		goto err_dm;

	return &dm->vdm.dm;

err_dm:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	errno = err;
	return NULL;
}

static void dm_unmap(struct srnic_dm *dm)
{
	munmap(dm->start, dm->mapped);
	free(dm);
}

int srnic_free_dm(struct ibv_dm *ibdm)
{
	struct srnic_dm *dm = to_srnic_dm(ibdm);
	int err = ibv_cmd_free_dm(&dm->vdm);

	if (err)
		return err;
	dm_unmap(dm);

	return 0;
}

struct ibv_dm *srnic_import_dm(struct ibv_context *ctx, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmdb, UVERBS_OBJECT_DM, SRNIC_METHOD_DM_QUERY,
			       2);
	struct srnic_query_dm_resp resp = {};
	struct srnic_dm *dm;
	int err;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_in_obj(cmdb, SRNIC_ATTR_QUERY_DM_HANDLE, handle);
	fill_attr_out_ptr(cmdb, SRNIC_ATTR_QUERY_DM_RESP, &resp);
	err = execute_ioctl(ctx, cmdb);
	if (!err)
		err = dm_map(dm, ctx->cmd_fd, &resp.map, resp.length);
	if (err) {
		free(dm);
		errno = err;
		return NULL;
	}
	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	dm->vdm.dm.context = ctx;

	return &dm->vdm.dm;
}

void srnic_unimport_dm(struct ibv_dm *ibdm)
{
	dm_unmap(to_srnic_dm(ibdm));
}

struct ibv_mr *srnic_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			       uint64_t offset, size_t length,
			       unsigned int access)
{
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_dm_mr(pd, &to_srnic_dm(ibdm)->vdm, offset, length,
				access, vmr, NULL);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}

	return &vmr->ibv_mr;
}
