/* SPDX-License-Identifier: GPL-2.0 */
/* srnic selftests - marks in a program that a QEMU plugin sees: NOPs with a displacement */
#ifndef MARK_H
#define MARK_H

#define MARK_BEGIN	0x53524e01
#define MARK_END	0x53524e02

/* aligned: it does not cross the end of a page */
#define MARK(n)	\
	({ asm volatile(".balign 8; nopl %c0(%%rax)" : : "i" (n) : "memory"); })

#endif
