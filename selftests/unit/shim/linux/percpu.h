/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - per-CPU data of a single processor, for tests in user space */
#ifndef SRNIC_SHIM_LINUX_PERCPU_H
#define SRNIC_SHIM_LINUX_PERCPU_H

#include <linux/kernel.h>

#define __percpu

#define this_cpu_add(word, n)	((word) += (n))
#define __this_cpu_add(word, n)	((word) += (n))

#endif /* SRNIC_SHIM_LINUX_PERCPU_H */
