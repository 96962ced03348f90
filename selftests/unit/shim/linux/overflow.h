/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - sums and products with overflow checks, for tests in user space */
#ifndef SRNIC_SHIM_LINUX_OVERFLOW_H
#define SRNIC_SHIM_LINUX_OVERFLOW_H

#define check_add_overflow(a, b, sum)	__builtin_add_overflow(a, b, sum)
#define check_mul_overflow(a, b, prod)	__builtin_mul_overflow(a, b, prod)

#endif /* SRNIC_SHIM_LINUX_OVERFLOW_H */
