/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - what lines.c needs of QEMU's plugin API, the same from QEMU 6 on; Debian
 * does not package its header
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

struct qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
enum { CB_NO_REGS };
enum { MEM_RW = 3 };

typedef void (*tb_fn)(__u64 id, struct qemu_plugin_tb *tb);
typedef void (*insn_fn)(unsigned int cpu, void *data);
typedef void (*mem_fn)(unsigned int cpu, __u32 info, __u64 vaddr, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(__u64 id, tb_fn fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, insn_fn fn,
					    int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_fn fn, int flags,
				      int rw, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
__u64 qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(__u32 info);
unsigned int qemu_plugin_mem_size_shift(__u32 info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(__u32 info, __u64 vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *addr);
__u64 qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *addr);

#endif
