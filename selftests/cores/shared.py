#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""srnic selftests - judge what lines.c counted

usage: shared.py [-l] RESULTS PROCESSORS MESSAGES NAME...

RESULTS/lines.N is the Nth report, one on each kind of message, in the order of the NAMEs, of
which each of the PROCESSORS sent MESSAGES; RESULTS/symbols is the kernel's kallsyms.

A cache line is shared as often as two processors both access it.  No instruction may write
shared lines, the same or different ones, for every fourth message or more often, except for
the clock; instructions that only read such lines are listed with the writer.  Some kinds
share lines deliberately, which must be detected: see the last cases of pairs.c.

Where a thread has several queue pairs, for which other processors work as well, there are
reports on each of these alone before that on all of them.  Lines that are written for two of
them are nobody's own: a processor that helps may share only those of the hand-over, with its
wake-ups by the kernel's scheduler.

-l lists, for each kind, the lines that processor 1 writes for every second message or more
often: the address, how often, and the functions that touch it.
"""
import bisect
import collections
import itertools
import pathlib
import re
import sys

# Lines of srnic that are written for a message, or shared by two processors; there are more
LEAST = 20

# What does not run for messages but by time: the clock, and the scheduler's search for the
# busiest processor, on the stack of a task that it may move
PERIODIC = {"timekeeping_advance", "update_vsyscall", "tick_do_update_jiffies64",
            "update_sd_lb_stats", "update_sg_lb_stats", "sched_balance_find_src_group",
            "sched_balance_rq", "sched_balance_newidle"}

# Kinds for which a thread has several queue pairs, and how many, in pairs.c
OF_SEVERAL = {"several queue pairs", "sharing"}
SEVERAL = 4

# Functions that hand work over: what they share is meant to be
HAND_OVER = re.compile(r"(srnic_)?(worker|thread)_")


class Symbols:
    """The functions of the kernel, by address"""

    def __init__(self, path):
        rows = (line.split() for line in path.open(encoding="ascii"))
        found = sorted((int(row[0], 16), " ".join(row[2:])) for row in rows
                       if row[1] in "tTwW")
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        at = bisect.bisect(self.addresses, address)

        return self.names[at - 1] if at else "user space"

    def is_periodic(self, address):
        return self.name(address).partition(".")[0] in PERIODIC


class Line:
    """A cache line: loads and stores by processor and instruction, and how often each processor
    executed the instruction that touched it most often, since an update takes several"""

    def __init__(self):
        self.address = ""
        self.uses = []
        self.touched = collections.Counter()
        self.written = collections.Counter()

    def add(self, address, cpu, pc, loads, stores):
        self.address = address
        self.uses.append((cpu, pc, loads, stores))
        self.touched[cpu] = max(self.touched[cpu], loads, stores)
        self.written[cpu] = max(self.written[cpu], stores)

    def functions(self, symbols):
        """Those that touched it, the most frequent one first"""
        by = collections.Counter()
        for _, pc, loads, stores in self.uses:
            by[symbols.name(pc)] += loads + stores

        return [name for name, _ in by.most_common()]

    def is_of_srnic(self, symbols):
        return "[srnic]" in " ".join(self.functions(symbols))

    def is_handed_over(self, symbols):
        return any(HAND_OVER.match(name) for name in self.functions(symbols))

    def shared(self):
        """How often the others touched it, besides the processor that did most often"""
        return sum(self.touched.values()) - max(self.touched.values())


class Kind:
    """What was counted for a kind of message"""

    def __init__(self, path, symbols, processors, messages):
        self.symbols = symbols
        self.processors = processors
        self.messages = messages
        lines = collections.defaultdict(Line)
        with path.open(encoding="ascii") as rows:
            self.unknown = int(next(rows).split()[1])
            for row in rows:
                line, address, cpu, pc, loads, stores = row.split()
                lines[line].add(address, int(cpu), int(pc, 16), int(loads), int(stores))
        self.by_address = lines
        self.lines = lines.values()
        self.own = [line for line in self.lines if line.is_of_srnic(symbols)]
        self.sharing = self.find_sharing()

    def find_sharing(self):
        """The functions that share lines; none if each line is used by one processor"""
        uses = collections.defaultdict(set)
        shared = collections.Counter()
        for line in self.lines:
            if len(line.touched) < 2:
                continue
            everyone = sum(line.touched.values())
            for cpu, pc, loads, stores in line.uses:
                others = everyone - line.touched[cpu]
                uses[line].add((cpu, pc, stores > 0))
                shared[cpu, pc, stores > 0] += min(max(loads, stores), others)
        often = {use for use, n in shared.items()
                 if n >= self.messages / 4 and not self.symbols.is_periodic(use[1])}
        written = {use for use in often if use[2]}
        found = set().union(*(of_line & often for of_line in uses.values() if of_line & written))
        if len({cpu for cpu, _, _ in found}) < 2:
            return []

        return sorted({self.symbols.name(pc) for _, pc, _ in found})

    def is_busy(self):
        """Each processor has sent its messages."""
        return all(sum(line.written[cpu] >= self.messages for line in self.own) >= LEAST
                   for cpu in range(self.processors))

    def is_moving(self):
        """Each processor shares lines of srnic with the one that it moves to."""
        half = self.processors // 2

        return all(sum(min(line.written[cpu], line.written[cpu + half]) >= self.messages / 4
                       for line in self.own) >= LEAST for cpu in range(half))

    def written(self):
        """Physical addresses of the lines that are written for messages"""
        return {address for address, line in self.by_address.items()
                if sum(line.written.values()) >= self.messages / 4}

    def common(self, alone):
        """Functions that share lines written for two of the queue pairs, each @alone before,
        and the number of lines that are shared to hand over"""
        count = collections.Counter(address for kind in alone for address in kind.written())
        functions, handed = set(), 0
        for address, line in self.by_address.items():
            if line.shared() < self.messages / 4 or not sum(line.written.values()):
                continue
            if line.is_handed_over(self.symbols):
                handed += 1
            elif count[address] > 1 and line.is_of_srnic(self.symbols):
                functions.update(line.functions(self.symbols))

        return sorted(functions), handed

    def listing(self):
        for line in sorted(self.lines, key=lambda line: line.address):
            if line.written[1] >= self.messages / 2:
                yield " ".join([line.address, str(line.written[1]),
                                ", ".join(line.functions(self.symbols))])


def judge(name, kind, alone):
    """Return: has it passed, what was checked, functions that share lines"""
    if alone:
        shared, handed = kind.common(alone)
        if name == "sharing":
            return "srnic_mr_hold [srnic]" in shared, "a shared region is found", shared
        return handed and not shared, f"{handed} lines, of hand-overs alone, are shared", shared
    if name == "moving":
        return (kind.is_moving(), "lines of queue pairs that move are found to be shared",
                kind.sharing)
    if name in ("counting", "comparing", "rotating"):
        return "user space" in kind.sharing, "shared lines are found", kind.sharing

    return kind.is_busy() and not kind.sharing, "no lines are shared", kind.sharing


def main():
    args = sys.argv[1:]
    listed = args[0] == "-l"
    if listed:
        args = args[1:]
    results, names = pathlib.Path(args[0]), args[3:]
    if not names:
        sys.exit("shared.py: no kind of message is named")
    symbols = Symbols(results / "symbols")
    reports = (Kind(results / f"lines.{n}", symbols, int(args[1]), int(args[2]))
               for n in itertools.count(1))
    failed = 0
    print(f"TAP version 13\n1..{len(names)}")
    for number, name in enumerate(names, 1):
        alone = list(itertools.islice(reports, SEVERAL if name in OF_SEVERAL else 0))
        kind = next(reports)
        passed, what, shared = judge(name, kind, alone)
        failed += not passed
        print(f"{'' if passed else 'not '}ok {number} {name}: {what}")
        print(f"# {kind.unknown} accesses unknown; shared by:", ", ".join(shared[:20]))
        for row in kind.listing() if listed else []:
            print("#", row)

    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
