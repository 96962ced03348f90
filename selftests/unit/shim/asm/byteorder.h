/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's names of the byte order helpers for tests in user space
 */
#ifndef SRNIC_SHIM_ASM_BYTEORDER_H
#define SRNIC_SHIM_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#define cpu_to_be16	__cpu_to_be16
#define cpu_to_be32	__cpu_to_be32
#define cpu_to_be64	__cpu_to_be64
#define be16_to_cpu	__be16_to_cpu
#define be32_to_cpu	__be32_to_cpu
#define be64_to_cpu	__be64_to_cpu

#endif /* SRNIC_SHIM_ASM_BYTEORDER_H */
