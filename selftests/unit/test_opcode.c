// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the opcode table matches an independent list
 */

#include <string.h>

#include "opcode_list.h"
#include "tap.h"
#include "wire/hdr.h"

/* Letter of the list, bit of the table, bytes on the wire */
static const struct {
	char		letter;
	u16		bit;
	unsigned int	bytes;
} headers[] = {
	{ 'x', SRNIC_H_XRCETH,   4 },
	{ 'd', SRNIC_H_DETH,     8 },
	{ 'f', SRNIC_H_FETH,     4 },
	{ 'r', SRNIC_H_RETH,    16 },
	{ 'm', SRNIC_H_MASKS,   24 },
	{ 'c', SRNIC_H_ATOMIC,  28 },
	{ 'a', SRNIC_H_AETH,     4 },
	{ 'o', SRNIC_H_ATOMACK,  8 },
	{ 'i', SRNIC_H_IMM,      4 },
	{ 'v', SRNIC_H_IETH,     4 },
};

static const struct opcode_fact *fact_of(unsigned int opcode)
{
	unsigned int i;

	for (i = 0; i < OPCODES; i++)
		if (opcode_list[i].opcode == opcode)
			return &opcode_list[i];

	return NULL;
}

static u8 flags_of(const struct opcode_fact *fact)
{
	bool start = fact->place == 'f' || fact->place == 'o';
	bool end = fact->place == 'l' || fact->place == 'o';

	return (start ? SRNIC_OP_START : 0) | (end ? SRNIC_OP_END : 0) |
	       (fact->request ? SRNIC_OP_REQ : 0) |
	       (fact->data ? SRNIC_OP_DATA : 0);
}

static void test_headers(const struct opcode_fact *fact)
{
	const struct srnic_op *op = &srnic_ops[fact->opcode];
	unsigned int bytes = 12;
	u16 bits = 0;
	unsigned int i;

	for (i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		if (!strchr(fact->headers, headers[i].letter))
			continue;
		bits |= headers[i].bit;
		bytes += headers[i].bytes;
	}
	if (op->hdrs != bits)
		tap_fault("opcode 0x%02x has headers 0x%x", fact->opcode, op->hdrs);
	if (op->hdr_len != bytes)
		tap_fault("opcode 0x%02x has %u bytes of headers", fact->opcode,
			  op->hdr_len);
	if (op->hdr_len > SRNIC_HDR_MAX)
		tap_fault("opcode 0x%02x has more than SRNIC_HDR_MAX", fact->opcode);
}

int main(void)
{
	static const struct srnic_op unknown;
	unsigned int i;

	for (i = 0; i < 256; i++)
		if (!fact_of(i) && memcmp(&srnic_ops[i], &unknown, sizeof(unknown)))
			tap_fault("opcode 0x%02x is in the table", i);
	tap_done("the table has no opcodes other than those of the list");

	for (i = 0; i < OPCODES; i++) {
		const struct opcode_fact *fact = &opcode_list[i];

		if (srnic_ops[fact->opcode].family != fact->family)
			tap_fault("opcode 0x%02x has family %u", fact->opcode,
				  srnic_ops[fact->opcode].family);
	}
	tap_done("families");

	for (i = 0; i < OPCODES; i++) {
		const struct opcode_fact *fact = &opcode_list[i];

		if (srnic_ops[fact->opcode].flags != flags_of(fact))
			tap_fault("opcode 0x%02x has flags 0x%x", fact->opcode,
				  srnic_ops[fact->opcode].flags);
	}
	tap_done("position in the message, direction and payload");

	for (i = 0; i < OPCODES; i++)
		test_headers(&opcode_list[i]);
	tap_done("extended headers and their length");

	return tap_end();
}
