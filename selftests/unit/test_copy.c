// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - a program that polls the last bytes of a message sees all of it
 *
 * At each barrier the test checks what another processor may see at that point,
 * according to the memory model.
 */
#include "mem/copy.h"
#include "tap.h"

#define LEN	4096
#define OLD	0xa5

static u8 dst[LEN + 16];
static u8 src[LEN + 16];
static u8 *at;
static size_t size;
static unsigned int looks;

static bool is_old(size_t from, size_t to)
{
	for (; from < to; from++)
		if (at[from] != OLD)
			return false;

	return true;
}

/* Before the first barrier nothing is stored, before the second all but the end. */
static void look(void)
{
	size_t bulk = size > 8 ? size - 8 : 0;

	if (!looks++) {
		if (!is_old(0, size))
			tap_fault("%zu bytes: stored too early", size);
		return;
	}
	if (memcmp(at, src, bulk))
		tap_fault("%zu bytes: the end may be seen first", size);
	if (!is_old(bulk, size))
		tap_fault("%zu bytes: the end is stored too early", size);
}

static void copy(size_t offset, size_t len)
{
	size_t i;

	memset(dst, OLD, sizeof(dst));
	for (i = 0; i < len; i++)
		src[i] = i * 7 + 1 == OLD ? 0 : i * 7 + 1;
	at = dst + offset;
	size = len;
	looks = 0;
	srnic_copy_in(at, src, len);
	if (looks != (len > 8 ? 2 : 1))
		tap_fault("%zu bytes: %u barriers", len, looks);
	if (memcmp(at, src, len) || dst[offset + len] != OLD ||
	    (offset && dst[offset - 1] != OLD))
		tap_fault("%zu bytes at %zu: wrong data", len, offset);
}

int main(void)
{
	size_t len, offset;

	shim_at_wmb = look;
	for (len = 1; len < 100; len++)
		for (offset = 0; offset < 9; offset++)
			copy(offset, len);
	tap_done("short copies");

	for (len = LEN - 9; len <= LEN; len++)
		copy(3, len);
	tap_done("long copies");

	return tap_end();
}
