/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - driver-specific attributes of an object, for "rdma resource show"
 *
 * Each room fills in the attributes of its objects; verbs/restrack.c turns them into
 * netlink attributes.  Documentation/tracing.rst says what the names mean.
 */
#ifndef SRNIC_RES_ATTRS_H
#define SRNIC_RES_ATTRS_H

#include <linux/in6.h>
#include <linux/types.h>

#define SRNIC_RES_ATTRS_MAX	64	/* attributes of an object */

enum srnic_res_attr_kind {
	SRNIC_RES_ATTR_U32,
	SRNIC_RES_ATTR_HEX,		/* u64, printed in hexadecimal */
	SRNIC_RES_ATTR_U64,
	SRNIC_RES_ATTR_STRING,
	SRNIC_RES_ATTR_ADDR,		/* network address, shown as text */
};

/**
 * struct srnic_res_attr - one attribute
 * @name: its name, without the prefix "drv_" of the output
 * @kind: enum srnic_res_attr_kind
 * @num: value of a number
 * @string: value of a string, a constant
 * @addr: value of a network address; IPv4 addresses are v4-mapped, and an unspecified
 *	  address is not shown
 */
struct srnic_res_attr {
	const char	*name;
	u8		kind;
	union {
		u64		num;
		const char	*string;
		struct in6_addr	addr;
	};
};

/**
 * struct srnic_res_attrs - the attributes of an object
 * @secrets: the reader may see keys and memory addresses
 * @wire: the reader may see network addresses and PSNs
 * @num: number of attributes; above SRNIC_RES_ATTRS_MAX if some did not fit
 * @attrs: the attributes
 */
struct srnic_res_attrs {
	bool			secrets;
	bool			wire;
	unsigned int		num;
	struct srnic_res_attr	attrs[SRNIC_RES_ATTRS_MAX];
};

static inline void srnic_res_add(struct srnic_res_attrs *attrs,
				 const struct srnic_res_attr *attr)
{
	if (attrs->num < SRNIC_RES_ATTRS_MAX)
		attrs->attrs[attrs->num] = *attr;
	attrs->num++;
}

static inline void srnic_res_add_num(struct srnic_res_attrs *attrs, const char *name,
				     enum srnic_res_attr_kind kind, u64 num)
{
	const struct srnic_res_attr attr = {
		.name = name, .kind = kind, .num = num,
	};

	srnic_res_add(attrs, &attr);
}

static inline void srnic_res_add_u32(struct srnic_res_attrs *attrs, const char *name, u32 num)
{
	srnic_res_add_num(attrs, name, SRNIC_RES_ATTR_U32, num);
}

/* Adds a PSN, if the reader may see it. */
static inline void srnic_res_add_psn(struct srnic_res_attrs *attrs, const char *name, u32 psn)
{
	if (attrs->wire)
		srnic_res_add_u32(attrs, name, psn);
}

/* Adds a network address, if the reader may see it. */
static inline void srnic_res_add_addr(struct srnic_res_attrs *attrs, const char *name,
				      const struct in6_addr *addr)
{
	const struct srnic_res_attr attr = {
		.name = name, .kind = SRNIC_RES_ATTR_ADDR, .addr = *addr,
	};

	if (attrs->wire)
		srnic_res_add(attrs, &attr);
}

static inline void srnic_res_add_hex(struct srnic_res_attrs *attrs, const char *name, u64 num)
{
	srnic_res_add_num(attrs, name, SRNIC_RES_ATTR_HEX, num);
}

static inline void srnic_res_add_u64(struct srnic_res_attrs *attrs, const char *name, u64 num)
{
	srnic_res_add_num(attrs, name, SRNIC_RES_ATTR_U64, num);
}

static inline void srnic_res_add_string(struct srnic_res_attrs *attrs, const char *name,
					const char *string)
{
	const struct srnic_res_attr attr = {
		.name = name, .kind = SRNIC_RES_ATTR_STRING, .string = string,
	};

	srnic_res_add(attrs, &attr);
}

#endif /* SRNIC_RES_ATTRS_H */
