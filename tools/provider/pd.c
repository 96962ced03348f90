// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - protection domains, thread domains and parent domains
 *
 * A parent domain combines a protection domain with a thread domain and memory
 * allocators for the objects created in it.  The kernel knows nothing about it.  Its
 * objects keep it in use, and it keeps its protection domain and thread domain in use:
 * deallocating a domain in use fails with EBUSY.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srnic.h"

static struct srnic_pd *pd_make(void)
{
	struct srnic_pd *pd = calloc(1, sizeof(*pd));

	if (pd)
		atomic_init(&pd->users, 0);

	return pd;
}

struct ibv_pd *srnic_alloc_pd(struct ibv_context *ctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct srnic_pd *pd;
	int err;

	pd = pd_make();
	if (!pd)
		return NULL;
	err = ibv_cmd_alloc_pd(ctx, &pd->pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}

	return &pd->pd;
}

static void parent_free(struct srnic_pd *pd)
{
	atomic_fetch_sub(&pd->real->users, 1);
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
	free(pd);
}

int srnic_dealloc_pd(struct ibv_pd *ibpd)
{
	struct srnic_pd *pd = to_srnic_pd(ibpd);
	int err;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->real) {
		parent_free(pd);
		return 0;
	}

	err = ibv_cmd_dealloc_pd(ibpd);
	if (!err)
		free(pd);

	return err;
}

struct ibv_pd *srnic_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	struct srnic_pd *pd = pd_make();

	if (!pd)
		return NULL;
	pd->pd.context = ctx;
	pd->pd.handle = handle;

	return &pd->pd;
}

void srnic_unimport_pd(struct ibv_pd *pd)
{
	free(to_srnic_pd(pd));
}

struct ibv_td *srnic_alloc_td(struct ibv_context *ctx,
			      struct ibv_td_init_attr *attr)
{
	struct srnic_td *td;

	if (attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = ctx;
	atomic_init(&td->users, 0);

	return &td->td;
}

int srnic_dealloc_td(struct ibv_td *ibtd)
{
	struct srnic_td *td = to_srnic_td(ibtd);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);

	return 0;
}

/*
 * IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC, which early releases lack: it
 * allows memory that a confidential guest shares with its host.  This device needs none.
 */
enum {
	PARENT_CC	= 1 << 2,
};

#define PARENT_ATTRS	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | \
			 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT | PARENT_CC)

/* Return: 0 or errno. */
static int parent_attr_check(struct ibv_context *ctx,
			     struct ibv_parent_domain_init_attr *attr)
{
	if (ibv_check_alloc_parent_domain(attr) || attr->pd->context != ctx)
		return EINVAL;
	if (attr->comp_mask & ~PARENT_ATTRS)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
	    (!attr->alloc || !attr->free))
		return EINVAL;

	return 0;
}

struct ibv_pd *
srnic_alloc_parent_domain(struct ibv_context *ctx,
			  struct ibv_parent_domain_init_attr *attr)
{
	struct srnic_pd *pd, *real;
	int err;

	err = parent_attr_check(ctx, attr);
	if (err) {
		errno = err;
		return NULL;
	}
	pd = pd_make();
	if (!pd)
		return NULL;

	/* Parent domains may nest; all of them refer to the innermost domain. */
	real = to_srnic_pd(attr->pd);
	pd->real = real->real ? real->real : real;
	atomic_fetch_add(&pd->real->users, 1);
	ibv_initialize_parent_domain(&pd->pd, &pd->real->pd);
	if (attr->td) {
		pd->td = to_srnic_td(attr->td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->context = attr->pd_context;

	return &pd->pd;
}

/* Return: memory of the domain's allocator, NULL, or IBV_ALLOCATOR_USE_DEFAULT. */
static void *pd_alloc(struct srnic_pd *pd, size_t size, uint64_t type)
{
	if (!pd || !pd->alloc)
		return IBV_ALLOCATOR_USE_DEFAULT;

	return pd->alloc(&pd->pd, pd->context, size, SRNIC_LINE, type);
}

static void *line_alloc(size_t size)
{
	void *mem;

	size = (size + SRNIC_LINE - 1) & ~(size_t)(SRNIC_LINE - 1);

	return posix_memalign(&mem, SRNIC_LINE, size) ? NULL : mem;
}

void *srnic_obj_alloc(struct ibv_pd *ibpd, size_t size, uint64_t type)
{
	struct srnic_pd *pd = ibpd ? to_srnic_pd(ibpd) : NULL;
	struct srnic_obj *obj;
	bool custom;

	if (pd && !pd->real)
		pd = NULL;
	obj = pd_alloc(pd, size, type);
	custom = obj != IBV_ALLOCATOR_USE_DEFAULT;
	if (!custom)
		obj = line_alloc(size);
	if (!obj) {
		errno = ENOMEM;
		return NULL;
	}

	memset(obj, 0, size);
	obj->pd = pd;
	obj->type = type;
	obj->custom = custom;
	if (pd)
		atomic_fetch_add(&pd->users, 1);

	return obj;
}

void srnic_obj_free(struct srnic_obj *obj)
{
	struct srnic_pd *pd = obj->pd;

	if (obj->custom)
		pd->free(&pd->pd, pd->context, obj, obj->type);
	else
		free(obj);
	if (pd)
		atomic_fetch_sub(&pd->users, 1);
}

bool srnic_obj_is_lone(const struct srnic_obj *obj)
{
	return obj->pd && obj->pd->td;
}
