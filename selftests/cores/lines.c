// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - a QEMU plugin that counts which processor touches which cache line
 *
 * usage: qemu-system-x86_64 -icount ... -plugin lines.so,report=PREFIX
 *
 * Counts loads and stores of each processor from the instruction MARK_BEGIN to MARK_END (see
 * mark.h).  The Nth time it writes PREFIX.N, a row for each instruction of a processor that
 * touched a line which several processors touch and one of them writes, or touched a line at
 * least LEAST times:
 *
 *	PHYSICAL-LINE VIRTUAL-LINE PROCESSOR INSTRUCTION LOADS STORES
 *
 * addresses in hexadecimal; and a row "unknown N", the number of accesses to addresses that
 * are not memory, or that QEMU does not tell.  With -icount one thread runs all processors.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"
#include "plugin.h"

#define LINE	64
#define CPUS	64
#define LEAST	16

PLUGIN_EXPORT int qemu_plugin_version = PLUGIN_VERSION;

/**
 * struct use - what an instruction of a processor did to a line
 * @line: physical address
 * @vaddr: virtual address of the line, the last one
 * @pc: address of the instruction, 0 if the entry is empty
 * @cpu: the processor
 * @loads: how often it read
 * @stores: how often it wrote
 */
struct use {
	__u64	line;
	__u64	vaddr;
	__u64	pc;
	__u64	cpu;
	__u64	loads;
	__u64	stores;
};

/**
 * struct line - who used a line
 * @address: physical address
 * @cpus: processors, a mask; 0 if the entry is empty
 * @written: by any of them
 */
struct line {
	__u64	address;
	__u64	cpus;
	bool	written;
};

/* A hash table with linear probing; of @size entries, a power of two, half are used at most. */
static struct use *uses;
static size_t size, used;

static const char *prefix;
static unsigned long long unknown;
static bool counting;

static size_t hash(__u64 a, __u64 b, __u64 c)
{
	return (a / LINE * 0x9e3779b97f4a7c15 ^ b * 0xc2b2ae3d27d4eb4f ^
		c * 0x165667b19e3779f9) >> 20;
}

static struct use *find(__u64 line, __u64 pc, __u64 cpu)
{
	size_t i;

	for (i = hash(line, pc, cpu);; i++) {
		struct use *use = &uses[i & (size - 1)];

		if (!use->pc || (use->line == line && use->pc == pc && use->cpu == cpu))
			return use;
	}
}

static void *table(size_t entries, size_t entry)
{
	void *p = calloc(entries, entry);

	if (!p)
		abort();

	return p;
}

static void grow(void)
{
	struct use *old = uses, *use;
	size_t n = size;

	size = n ? 2 * n : 1 << 16;
	uses = table(size, sizeof(*uses));
	for (use = old; use < old + n; use++)
		if (use->pc)
			*find(use->line, use->pc, use->cpu) = *use;
	free(old);
}

static void count(__u64 line, __u64 vaddr, unsigned int cpu, __u64 pc, bool store)
{
	struct use *use;

	if (2 * used >= size)
		grow();
	use = find(line, pc, cpu);
	if (!use->pc) {
		use->line = line;
		use->pc = pc;
		use->cpu = cpu;
		used++;
	}
	use->vaddr = vaddr;
	if (store)
		use->stores++;
	else
		use->loads++;
}

static void touched(unsigned int cpu, __u32 info, __u64 vaddr, void *pc)
{
	struct qemu_plugin_hwaddr *addr;
	__u64 first, last;

	if (!counting)
		return;
	addr = qemu_plugin_get_hwaddr(info, vaddr);
	if (cpu >= CPUS || !addr || qemu_plugin_hwaddr_is_io(addr)) {
		unknown++;
		return;
	}
	first = qemu_plugin_hwaddr_phys_addr(addr);
	last = first + (1 << qemu_plugin_mem_size_shift(info)) - 1;
	for (first &= ~(LINE - 1ull); first <= last; first += LINE)
		count(first, vaddr & ~(LINE - 1ull), cpu, (uintptr_t)pc,
		      qemu_plugin_mem_is_store(info));
}

static void begin(unsigned int cpu, void *unused)
{
	counting = true;
}

static struct line *line_find(struct line *lines, __u64 address)
{
	size_t i;

	for (i = hash(address, 0, 0);; i++) {
		struct line *line = &lines[i & (size - 1)];

		if (!line->cpus || line->address == address)
			return line;
	}
}

static struct line *lines_make(void)
{
	struct line *lines = table(size, sizeof(*lines)), *line;
	struct use *use;

	for (use = uses; use < uses + size; use++) {
		if (!use->pc)
			continue;
		line = line_find(lines, use->line);
		line->address = use->line;
		line->cpus |= 1ull << use->cpu;
		line->written |= use->stores > 0;
	}

	return lines;
}

static bool is_wanted(struct line *lines, const struct use *use)
{
	struct line *line = line_find(lines, use->line);

	return use->loads + use->stores >= LEAST ||
	       (line->written && line->cpus & (line->cpus - 1));
}

static void report(FILE *f)
{
	struct line *lines = lines_make();
	struct use *use;

	fprintf(f, "unknown %llu\n", unknown);
	for (use = uses; use < uses + size; use++)
		if (use->pc && is_wanted(lines, use))
			fprintf(f, "%llx %llx %llu %llx %llu %llu\n", use->line, use->vaddr,
				use->cpu, use->pc, use->loads, use->stores);
	free(lines);
}

static void end(unsigned int cpu, void *unused)
{
	static int reports;
	char name[4096];
	FILE *f;

	counting = false;
	snprintf(name, sizeof(name), "%s.%d", prefix, ++reports);
	f = fopen(name, "w");
	if (!f)
		abort();
	report(f);
	if (fclose(f))
		abort();
	memset(uses, 0, size * sizeof(*uses));
	used = 0;
	unknown = 0;
}

static bool is_mark(const struct qemu_plugin_insn *insn, __u32 mark)
{
	static const __u8 nopl[] = { 0x0f, 0x1f, 0x80 };
	const __u8 *code = qemu_plugin_insn_haddr(insn);

	return code && qemu_plugin_insn_size(insn) == sizeof(nopl) + sizeof(mark) &&
	       !memcmp(code, nopl, sizeof(nopl)) &&
	       !memcmp(code + sizeof(nopl), &mark, sizeof(mark));
}

static void translated(__u64 id, struct qemu_plugin_tb *tb)
{
	size_t i;

	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		__u64 pc = qemu_plugin_insn_vaddr(insn);

		if (is_mark(insn, MARK_BEGIN))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, begin, CB_NO_REGS, NULL);
		else if (is_mark(insn, MARK_END))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, end, CB_NO_REGS, NULL);
		else
			qemu_plugin_register_vcpu_mem_cb(insn, touched, CB_NO_REGS, MEM_RW,
							 (void *)(uintptr_t)pc);
	}
}

PLUGIN_EXPORT int qemu_plugin_install(__u64 id, const struct qemu_info_t *info, int argc,
				      char **argv)
{
	if (argc != 1 || strncmp(argv[0], "report=", 7))
		return -1;
	prefix = strdup(argv[0] + 7);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);

	return 0;
}
