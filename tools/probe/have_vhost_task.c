// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* vhost_task_create() with a function for SIGKILL, 6.10, if the configuration has it */
#include <linux/types.h>
#include <linux/sched/vhost_task.h>

#ifndef CONFIG_VHOST_TASK
#error "vhost tasks are not built"
#endif

struct vhost_task *probe(bool (*fn)(void *), void (*killed)(void *), void *arg);
struct vhost_task *probe(bool (*fn)(void *), void (*killed)(void *), void *arg)
{
	return vhost_task_create(fn, killed, arg, "probe");
}
