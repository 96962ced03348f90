// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - CRC-32 by the CPU's instructions on kernels before 6.14, whose crc32_le() does
 * not use them
 */
#include "crc.h"

#ifdef SRNIC_CRC32_BY_CRYPTO

#include <crypto/hash.h>

static struct crypto_shash *crc_tfm;

void srnic_crc_init(void)
{
	crc_tfm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(crc_tfm))
		crc_tfm = NULL;
}

void srnic_crc_exit(void)
{
	if (crc_tfm)
		crypto_free_shash(crc_tfm);
}

/* The state of the hash is the CRC, neither inverted nor byte-swapped. */
u32 srnic_crc32_long(u32 crc, const u8 *data, size_t len)
{
	SHASH_DESC_ON_STACK(desc, crc_tfm);
	u32 *state = shash_desc_ctx(desc);

	if (!crc_tfm)
		return crc32_le(crc, data, len);

	desc->tfm = crc_tfm;
	*state = crc;
	if (crypto_shash_update(desc, data, len))
		return crc32_le(crc, data, len);

	return *state;
}

#endif
