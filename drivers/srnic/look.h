/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - how an object is at one moment, for "rdma resource"
 *
 * Who owns an object lists what is shown of it, each name beside its value; what
 * puts that list into a message, verbs/res.c, knows no object.
 * Documentation/tracing.rst says what the names mean.
 */
#ifndef SRNIC_LOOK_H
#define SRNIC_LOOK_H

#include <linux/types.h>

#define SRNIC_LOOK_MAX	48	/* values of an object */
#define SRNIC_LOOK_ADDR	48	/* a network address as text */

enum srnic_look_kind {
	SRNIC_LOOK_U32,
	SRNIC_LOOK_HEX,		/* u64, shown to humans in hexadecimal */
	SRNIC_LOOK_U64,
	SRNIC_LOOK_WORD,
};

/**
 * struct srnic_look_value - one value
 * @name: what it is called, without the "drv_" that it gets
 * @kind: enum srnic_look_kind
 * @num: the value, unless it is a word
 * @word: the value, constant or part of the list
 */
struct srnic_look_value {
	const char	*name;
	u8		kind;
	union {
		u64		num;
		const char	*word;
	};
};

/**
 * struct srnic_look - the values of an object
 * @secrets: the reader may see keys and addresses
 * @wire: the reader may see network addresses and PSNs
 * @peer: room for one as text
 * @num: how many, more than SRNIC_LOOK_MAX if some found no room
 * @values: these
 */
struct srnic_look {
	bool			secrets;
	bool			wire;
	char			peer[SRNIC_LOOK_ADDR];
	unsigned int		num;
	struct srnic_look_value	values[SRNIC_LOOK_MAX];
};

static inline void srnic_look_add(struct srnic_look *look,
				  const struct srnic_look_value *value)
{
	if (look->num < SRNIC_LOOK_MAX)
		look->values[look->num] = *value;
	look->num++;
}

static inline void srnic_look_num(struct srnic_look *look, const char *name,
				  enum srnic_look_kind kind, u64 num)
{
	const struct srnic_look_value value = {
		.name = name, .kind = kind, .num = num,
	};

	srnic_look_add(look, &value);
}

static inline void srnic_look_u32(struct srnic_look *look, const char *name,
				  u32 num)
{
	srnic_look_num(look, name, SRNIC_LOOK_U32, num);
}

static inline void srnic_look_psn(struct srnic_look *look, const char *name,
				  u32 psn)
{
	if (look->wire)
		srnic_look_u32(look, name, psn);
}

static inline void srnic_look_hex(struct srnic_look *look, const char *name,
				  u64 num)
{
	srnic_look_num(look, name, SRNIC_LOOK_HEX, num);
}

static inline void srnic_look_u64(struct srnic_look *look, const char *name,
				  u64 num)
{
	srnic_look_num(look, name, SRNIC_LOOK_U64, num);
}

static inline void srnic_look_word(struct srnic_look *look, const char *name,
				   const char *word)
{
	const struct srnic_look_value value = {
		.name = name, .kind = SRNIC_LOOK_WORD, .word = word,
	};

	srnic_look_add(look, &value);
}

#endif /* SRNIC_LOOK_H */
