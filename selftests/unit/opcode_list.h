/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the opcodes, written independently of the driver
 *
 * The numbers of RC, UC, UD and CNP are those of include/rdma/ib_pack.h and of scapy's
 * contrib/roce; XRC and the headers of each packet are from the tables of IBTA volume 1.
 * Each header is one letter, in wire order:
 *
 *	x XRCETH  d DETH  f FETH  r RETH  m masks  c AtomicETH
 *	a AETH    o AtomicAckETH  i ImmDt  v IETH
 *
 * Place in the message: f first, m middle, l last, o only.
 */
#ifndef SRNIC_UNIT_OPCODE_LIST_H
#define SRNIC_UNIT_OPCODE_LIST_H

#include "wire/opcode.h"

static const struct opcode_fact {
	unsigned char	opcode;
	unsigned char	family;
	char		place;
	bool		request;
	bool		data;
	const char	*headers;
} opcode_list[] = {
	/* RC */
	{   0, SRNIC_FAM_SEND,		'f', true,  true,  "" },
	{   1, SRNIC_FAM_SEND,		'm', true,  true,  "" },
	{   2, SRNIC_FAM_SEND,		'l', true,  true,  "" },
	{   3, SRNIC_FAM_SEND,		'l', true,  true,  "i" },
	{   4, SRNIC_FAM_SEND,		'o', true,  true,  "" },
	{   5, SRNIC_FAM_SEND,		'o', true,  true,  "i" },
	{   6, SRNIC_FAM_WRITE,		'f', true,  true,  "r" },
	{   7, SRNIC_FAM_WRITE,		'm', true,  true,  "" },
	{   8, SRNIC_FAM_WRITE,		'l', true,  true,  "" },
	{   9, SRNIC_FAM_WRITE,		'l', true,  true,  "i" },
	{  10, SRNIC_FAM_WRITE,		'o', true,  true,  "r" },
	{  11, SRNIC_FAM_WRITE,		'o', true,  true,  "ri" },
	{  12, SRNIC_FAM_READ,		'o', true,  false, "r" },
	{  13, SRNIC_FAM_READ_RESP,	'f', false, true,  "a" },
	{  14, SRNIC_FAM_READ_RESP,	'm', false, true,  "" },
	{  15, SRNIC_FAM_READ_RESP,	'l', false, true,  "a" },
	{  16, SRNIC_FAM_READ_RESP,	'o', false, true,  "a" },
	{  17, SRNIC_FAM_ACK,		'o', false, false, "a" },
	{  18, SRNIC_FAM_ATOMIC_ACK,	'o', false, false, "ao" },
	{  19, SRNIC_FAM_ATOMIC,	'o', true,  false, "c" },
	{  20, SRNIC_FAM_ATOMIC,	'o', true,  false, "c" },
	{  22, SRNIC_FAM_SEND,		'l', true,  true,  "v" },
	{  23, SRNIC_FAM_SEND,		'o', true,  true,  "v" },
	{  28, SRNIC_FAM_FLUSH,		'o', true,  false, "fr" },
	{  29, SRNIC_FAM_ATOMIC_WRITE,	'o', true,  true,  "r" },
	/* UC */
	{  32, SRNIC_FAM_SEND,		'f', true,  true,  "" },
	{  33, SRNIC_FAM_SEND,		'm', true,  true,  "" },
	{  34, SRNIC_FAM_SEND,		'l', true,  true,  "" },
	{  35, SRNIC_FAM_SEND,		'l', true,  true,  "i" },
	{  36, SRNIC_FAM_SEND,		'o', true,  true,  "" },
	{  37, SRNIC_FAM_SEND,		'o', true,  true,  "i" },
	{  38, SRNIC_FAM_WRITE,		'f', true,  true,  "r" },
	{  39, SRNIC_FAM_WRITE,		'm', true,  true,  "" },
	{  40, SRNIC_FAM_WRITE,		'l', true,  true,  "" },
	{  41, SRNIC_FAM_WRITE,		'l', true,  true,  "i" },
	{  42, SRNIC_FAM_WRITE,		'o', true,  true,  "r" },
	{  43, SRNIC_FAM_WRITE,		'o', true,  true,  "ri" },
	/* UD */
	{ 100, SRNIC_FAM_SEND,		'o', true,  true,  "d" },
	{ 101, SRNIC_FAM_SEND,		'o', true,  true,  "di" },
	/* CNP: sixteen reserved bytes behind the BTH */
	{ 129, SRNIC_FAM_CNP,		'o', false, true,  "" },
	/* XRC */
	{ 160, SRNIC_FAM_SEND,		'f', true,  true,  "x" },
	{ 161, SRNIC_FAM_SEND,		'm', true,  true,  "x" },
	{ 162, SRNIC_FAM_SEND,		'l', true,  true,  "x" },
	{ 163, SRNIC_FAM_SEND,		'l', true,  true,  "xi" },
	{ 164, SRNIC_FAM_SEND,		'o', true,  true,  "x" },
	{ 165, SRNIC_FAM_SEND,		'o', true,  true,  "xi" },
	{ 166, SRNIC_FAM_WRITE,		'f', true,  true,  "xr" },
	{ 167, SRNIC_FAM_WRITE,		'm', true,  true,  "x" },
	{ 168, SRNIC_FAM_WRITE,		'l', true,  true,  "x" },
	{ 169, SRNIC_FAM_WRITE,		'l', true,  true,  "xi" },
	{ 170, SRNIC_FAM_WRITE,		'o', true,  true,  "xr" },
	{ 171, SRNIC_FAM_WRITE,		'o', true,  true,  "xri" },
	{ 172, SRNIC_FAM_READ,		'o', true,  false, "xr" },
	{ 173, SRNIC_FAM_READ_RESP,	'f', false, true,  "a" },
	{ 174, SRNIC_FAM_READ_RESP,	'm', false, true,  "" },
	{ 175, SRNIC_FAM_READ_RESP,	'l', false, true,  "a" },
	{ 176, SRNIC_FAM_READ_RESP,	'o', false, true,  "a" },
	{ 177, SRNIC_FAM_ACK,		'o', false, false, "a" },
	{ 178, SRNIC_FAM_ATOMIC_ACK,	'o', false, false, "ao" },
	{ 179, SRNIC_FAM_ATOMIC,	'o', true,  false, "xc" },
	{ 180, SRNIC_FAM_ATOMIC,	'o', true,  false, "xc" },
	{ 182, SRNIC_FAM_SEND,		'l', true,  true,  "xv" },
	{ 183, SRNIC_FAM_SEND,		'o', true,  true,  "xv" },
	{ 188, SRNIC_FAM_FLUSH,		'o', true,  false, "xfr" },
	{ 189, SRNIC_FAM_ATOMIC_WRITE,	'o', true,  true,  "xr" },
	/* SACK and masked atomics: our own, see wire.rst; of the range for manufacturers */
	{ 211, SRNIC_FAM_SACK,		'o', false, true,  "" },
	{ 212, SRNIC_FAM_ATOMIC,	'o', true,  false, "mc" },
	{ 213, SRNIC_FAM_ATOMIC,	'o', true,  false, "mc" },
};

#define OPCODES (sizeof(opcode_list) / sizeof(*opcode_list))

#endif /* SRNIC_UNIT_OPCODE_LIST_H */
