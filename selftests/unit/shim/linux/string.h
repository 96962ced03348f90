/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - memory functions for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_STRING_H
#define SRNIC_SHIM_LINUX_STRING_H

#include <string.h>

#endif /* SRNIC_SHIM_LINUX_STRING_H */
