#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - with any input srnic-doctor neither crashes nor proposes a wrong command

usage: mutate.py [--rounds N] [--seed N] [--only TARGET] [--first N]

Texts of the system, answers of a peer, and names that others choose are made up and then
mutated at random.  Round N of a target with a seed is always the same, and the first failure
of a target says how to repeat it.  Prints TAP.
"""

import argparse
import contextlib
import copy
import fnmatch
import io
import json
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from tap import Tap  # noqa: E402
from tool import load  # noqa: E402
from doctor import facts, health, peer  # noqa: E402

program = load("srnic-doctor")

# --- names -------------------------------------------------------------------------------

PIECES = ("$(id)", "`id`", ";id", "'", '"', "\\", "-", "--", "\x1b", "\x01", "\x7f", "\udcff",
          "\xe9", "&", "|", "*", "~", "#", "!", "{a,b}", ">", "<", "$IFS", "%", "\u202e", "\xa0",
          "\x85", "\u2028", "=", "[", "a", "z0", ",", "@", "\U0001f980")
NAMES = {"netdev": "benignnet", "device": "benigndev", "group": "benigngroup",
         "table": "benigntable", "chain": "benignchain", "route": "benignroute"}


def hostile(rng, most=15):
    """A name that the kernel permits for a network device, if it is that short"""
    while True:
        name = "".join(rng.choices(PIECES, k=rng.randint(1, 4)))
        if len(facts.encoded(name)) <= most:
            return name


def hostile_names(rng):
    names = dict(NAMES)
    for key in rng.sample(sorted(NAMES), rng.randint(1, len(NAMES))):
        names[key] = hostile(rng, 15 if key in ("netdev", "route") else 40)
    return names


# --- a system ----------------------------------------------------------------------------

GID4, GID6 = "0000:0000:0000:0000:0000:ffff:0a09:0001", "fd09:0000:0000:0000:0000:0000:0000:0001"
GID_LOCAL = "fe80:0000:0000:0000:0000:0000:0000:0001"
LIBRARY = "/nowhere/libibverbs.so.1"
# What may be wrong in it; the others are as on a healthy host
BREAKS = ("down", "carrier", "port", "mtu", "no address", "duplicate", "tentative", "no gid",
          "codel", "red", "no neighbour", "one queue", "no hash", "cgroup", "no library",
          "no provider", "no driver",
          "no access", "no uverbs", "rxe", "no rdma", "no module", "other source", "no ecn",
          "missing", "no modules", "no devices", "no nft", "drop", "drop", "drop", "reject",
          "netdev drop", "bridge", "arp", "little memory", "other route")


class System:
    """Files and programs.  The names in them are those of *names*."""

    def __init__(self, names, broken=()):
        self.names, self.broken = names, set(broken)
        self.files, self.programs = {}, {}
        self.sysfs()
        self.proc()
        self.iproute()
        self.filters()
        self.libraries()

    def put(self, path, text):
        self.files[path] = facts.encoded(text + "\n")

    def program(self, command, value):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.programs[command] = facts.encoded(text)

    def has(self, what):
        return what in self.broken

    def gids(self):
        return [] if self.has("no gid") else [GID_LOCAL, GID4, GID6]

    def sysfs(self):
        base = f"/sys/class/infiniband/{self.names['device']}"
        port = f"{base}/ports/1"
        if self.has("no devices"):
            return
        self.put(f"{base}/hca_type", "srnic")
        self.put(f"{base}/fw_ver", "1.0.0")
        self.put(f"{base}/ecn", "0" if self.has("no ecn") else "1")
        self.put(f"{port}/state", "1: DOWN" if self.has("port") else "4: ACTIVE")
        for index, gid in enumerate(self.gids()):
            self.put(f"{port}/gids/{index}", gid)
            self.put(f"{port}/gid_attrs/types/{index}", "RoCE v2")
            self.put(f"{port}/gid_attrs/ndevs/{index}", self.names["netdev"])
        if not self.has("no uverbs"):
            self.put("/sys/class/infiniband_verbs/uverbs0/ibdev", self.names["device"])
            self.put("/sys/class/infiniband_verbs/uverbs0/abi_version",
                     "2" if self.has("rxe") else "1001")
        netdev = f"/sys/class/net/{self.names['netdev']}"
        self.put(f"{netdev}/device/vendor", "0x8086")
        for queue in range(1 if self.has("one queue") else 2):
            self.put(f"{netdev}/queues/rx-{queue}/rps_cpus", "0,00000000")

    def proc(self):
        self.put("/proc/self/status", "Name:\tx\nCapEff:\t" + (
            "0000000000001000" if self.has("little memory") else "000001ffffffffff"))
        self.put("/proc/self/uid_map", "         0          0 4294967295")
        self.put("/proc/self/mounts",
                 "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0")
        self.put("/proc/self/cgroup", f"0::/{self.names['group']}")
        most = "2" if self.has("cgroup") else "max"
        group = f"/sys/fs/cgroup/{self.names['group']}"
        self.put(f"{group}/rdma.max", f"{self.names['device']} hca_handle={most} hca_object=max")
        self.put(f"{group}/rdma.current", f"{self.names['device']} hca_handle=2 hca_object=9")
        folder = f"/lib/modules/{facts.os.uname().release}"
        if not self.has("no modules"):
            self.put(f"{folder}/modules.dep", "".join(
                f"kernel/{name}.ko.xz: kernel/a.ko\n" for name in facts.MODULES
                if name != "rdma_ucm" or not self.has("missing")))
        self.put("/etc/os-release", "ID=debian\nNAME='a b'")
        if not self.has("no module"):
            self.put("/sys/module/srnic/srcversion", "AAAA")
        self.program(("modinfo",), "BBBB\n" if self.has("other source") else "AAAA\n")

    def iproute(self):
        netdev = self.names["netdev"]
        if not self.has("no rdma"):
            self.program(("rdma",), [{"ifname": f"{self.names['device']}/1", "netdev": netdev}])
        flags = ["BROADCAST", *([] if self.has("down") else ["UP"]),
                 *([] if self.has("carrier") else ["LOWER_UP"])]
        addresses = [("inet", "10.9.0.1", 24), ("inet6", "fd09::1", 64)]
        state = {"tentative": self.has("tentative"), "dadfailed": self.has("duplicate")}
        self.program(("ip", "-j", "addr"), [{
            "ifname": netdev, "flags": flags, "mtu": 1500 if self.has("mtu") else 4200,
            "addr_info": [] if self.has("no address") else [
                dict(state, family=family, local=local, prefixlen=bits, scope="global")
                for family, local, bits in addresses]}])
        kind = next((kind for kind in ("codel", "red") if self.has(kind)), "noqueue")
        self.program(("tc",), [{"kind": kind, "root": True, "options": {}}])
        self.program(("ethtool",), "UDP over IPV4 flows use these fields\nIP SA\n" +
                     ("" if self.has("no hash") else "L4 bytes 0 & 1 [TCP/UDP src port]\n"))
        self.program(("ip", "-j", "neigh"), [{
            "dst": "10.9.0.2", "state": ["FAILED" if self.has("no neighbour") else "REACHABLE"]}])

    def route(self, own):
        netdev = self.names["route" if self.has("other route") else "netdev"]
        self.program(("ip", "-j", "route"), [{"dst": "10.9.0.2", "dev": netdev, "prefsrc": own,
                                              "flags": []}])

    def filters(self):
        if self.has("no nft"):
            return
        family = next((one for one in ("bridge", "arp") if self.has(one)), "inet")
        policy = "drop" if self.has("drop") else "accept"
        place = {"family": family, "table": self.names["table"]}
        chains = [dict(place, name=self.names["chain"], hook=hook, policy=policy)
                  for hook in ("input", "output")]
        if self.has("netdev drop"):
            chains.append(dict(place, family="netdev", name=self.names["chain"], hook="ingress",
                               dev=self.names["netdev"], policy="drop"))
        verdict = {"reject": {"type": "icmp"}} if self.has("reject") else {"accept": None}
        rule = dict(place, chain=self.names["chain"], expr=[{"match": {"right": 4791}}, verdict])
        self.program(("nft",), {"nftables": [
            {"metainfo": {"version": "1.0.6"}}, {"table": place},
            *({"chain": chain} for chain in chains), {"rule": rule}]})

    def libraries(self):
        name = "rxe" if self.has("rxe") else "srnic"
        if not self.has("no library"):
            seen = {"errno": 13 if self.has("no access") else 0, "mtu": 4096}
            absent = self.has("no provider") or self.has("no driver")
            self.program((sys.executable,), json.dumps({
                "library": LIBRARY, "devices": {} if absent else {self.names["device"]: seen}}))
        self.files[LIBRARY] = b"\x7fELF IBVERBS_PRIVATE_34\0"
        if not self.has("no provider"):
            self.put(f"/nowhere/libibverbs/lib{name}-rdmav34.so", "")
        if not self.has("no driver"):
            self.put(f"/etc/libibverbs.d/{name}.driver", f"driver {name}")

    # What replaces the functions of facts that look at the system

    def contents(self, path):
        return self.files.get(str(path))

    def names_in(self, path, pattern="*"):
        front = f"{path}/"
        inside = {file[len(front):].split("/")[0] for file in self.files if file.startswith(front)}
        return sorted(fnmatch.filter(inside, pattern))

    def exists(self, path):
        return any(file == str(path) or file.startswith(f"{path}/") for file in self.files)

    def run(self, *command):
        assert command[0] != "rdma" or "--" in command, "a name may begin with a dash"
        for length in (1, 3):
            if command[:length] in self.programs:
                return facts.decoded(self.programs[command[:length]]), ""
        return None, "no such program"

    @contextlib.contextmanager
    def installed(self):
        fakes = {"contents": self.contents, "names": self.names_in, "exists": self.exists,
                 "run": self.run}
        real = {name: getattr(facts, name) for name in fakes}
        for name, function in fakes.items():
            setattr(facts, name, function)
        try:
            yield self
        finally:
            for name, function in real.items():
                setattr(facts, name, function)


# --- a peer ------------------------------------------------------------------------------

PEERS = ((socket.AF_INET, ("10.9.0.2", peer.PORT), None, "10.9.0.1"),
         (socket.AF_INET6, ("fd09::2", peer.PORT, 0, 0), None, "fd09::1"),
         (socket.AF_INET6, ("fe80::2", peer.PORT, 0, 7), "netdev", "fe80::1"),
         (socket.AF_INET6, ("fe80::2", peer.PORT, 0, 0), None, "fe80::1"))
HEALTHY = {"echo": True, "udp": None, "cm": "answered", "tap": ["cm", "perf"], "mtu": 4096}


def seen_of_peer(rng):
    if rng.random() < 0.4:
        return dict(HEALTHY, cm="silent", udp=rng.choice((None, "EPERM")))
    return {"echo": rng.choice((True, False, None)),
            "udp": rng.choice((None, None, "EPERM", "ECONNREFUSED", "EMSGSIZE", "error 999")),
            "cm": rng.choice(("answered", "silent", None, "ENODEV")),
            "tap": rng.choice((None, [], ["cm"], ["perf"], ["cm", "perf"])),
            "mtu": rng.choice((None, *facts.MTUS))}


def examined(system, which, seen):
    """The lines of a host, and of a peer about which the probes have *seen* that"""
    family, address, zone, own = which
    system.route(own)
    fakes = {"resolve": lambda _: (family, address), "echo": lambda *_: seen["echo"],
             "zone_of": lambda *_: zone and system.names[zone],
             "firewalls": lambda found, *_: found.update(seen),
             "largest_mtu": lambda *_: seen["mtu"]}
    real = {name: getattr(peer, name) for name in fakes}
    for name, function in fakes.items():
        setattr(peer, name, function)
    try:
        with system.installed():
            found = facts.gather()
            found["processors"] = 8
            found["memlock"]["bytes"] = 65536 if system.has("little memory") else None
            found["peer"] = peer.probe("-a;b", 0)
        return health.judge(found)
    finally:
        for name, function in real.items():
            setattr(peer, name, function)


# --- commands ----------------------------------------------------------------------------

TOKEN = re.compile(r"""(?P<space>[ ]+) | (?P<operator>&&|[>|;]|\#[ ]) |
                       (?P<plain>[A-Za-z0-9@%_+=:,./-]+) | '(?P<quoted>[^']*)' |
                       "(?P<apostrophe>')" | \$'(?P<bytes>(?:[A-Za-z0-9]|\\[0-7]{3})*)'""", re.VERBOSE)


def words_of(command):
    """As bash(1) splits it: words, and operators as tuples; a comment has words, too.
    ValueError unless every other character is quoted."""
    words, place, begun = [], 0, False
    if not (command.isascii() and command.isprintable()):
        raise ValueError(f"not printable ASCII: {command!r}")
    while place < len(command):
        found = TOKEN.match(command, place)
        if not found:
            raise ValueError(f"not quoted: {command[place:]}")
        place = found.end()
        kind, text = found.lastgroup, found[found.lastgroup]
        if kind in ("space", "operator"):
            begun = False
            words += [(text,)] if kind == "operator" else []
            continue
        if kind == "bytes":
            text = facts.decoded(re.sub(rb"\\([0-7]{3})", lambda code: bytes((int(code[1], 8),)),
                                        text.encode()))
        if begun:
            words[-1] += text
        else:
            words.append(text)
        begun = True
    return words


def meaning(command):
    """Its words, whatever way nft gets names in, and without the end of options"""
    words = words_of(command)
    if words[:2] == ["nft", "-j"]:
        rule = json.loads(words[2])["nftables"][0]["insert"]["rule"]
        assert rule["expr"][0]["match"]["right"] == 4791 and rule["expr"][1] == {"accept": None}
        return ["nft", "insert", "rule", rule["family"], rule["table"], rule["chain"],
                "udp", "dport", "4791", "accept"]
    return [word for number, word in enumerate(words)
            if word != "--" or words[number - 1] not in ("rdma", "getent")]


def renamed(word, names):
    if isinstance(word, str):
        for key, name in NAMES.items():
            word = word.replace(name, names[key])
    return word


def check_dashes(command):
    """rdma(8) takes what begins with a dash for an option, wherever it is."""
    words = words_of(command)
    for number, word in enumerate(words):
        if word == "rdma" and words[number + 1] != "--":
            end = words.index(("&&",), number) if ("&&",) in words[number:] else len(words)
            assert not any(one[:1] == "-" for one in words[number:end]), command


# --- mutations ---------------------------------------------------------------------------

VALUES = (None, True, False, -1, 0, 1, 2**31, 2**64, 1.5, float("nan"), float("inf"), "", "x", "-1",
          "0x", "1e9", [], {}, [[]], [None], {"a": 1}, "\ud800", "a" * 300)


def mutated_value(rng, value):
    """JSON with one value that is another one, or gone"""
    value = copy.deepcopy(value)
    places, stack = [], [value]
    while stack:
        one = stack.pop()
        inner = list(one.items()) if isinstance(one, dict) else \
            list(enumerate(one)) if isinstance(one, list) else []
        places += [(one, key) for key, _ in inner]
        stack += [below for _, below in inner]
    if not places:
        return rng.choice(VALUES)
    folder, key = rng.choice(places)
    way = rng.randrange(4)
    if way == 0:
        del folder[key]
    elif way == 1:
        folder[key] = hostile(rng)
    else:
        folder[key] = copy.deepcopy(rng.choice(VALUES))
    return value


def mutated_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice((0, 1, 1, 2, 4, 8, 40)))
        way = rng.randrange(6)
        if way == 0:
            del data[start:end]
        elif way == 1:
            data[start:end] = rng.randbytes(end - start)
        elif way == 2:
            data[start:start] = data[start:end]
        elif way == 3:
            data[start:end] = facts.encoded(hostile(rng))
        elif way == 4:
            data[start:end] = rng.choice((b"\0", b"\n", b" ", b":", b"=", b"0", b"9" * 20, b"-",
                                          b"\x1c", b"\xa0", b",", b"\\", b"'"))
        else:
            del data[start:]
    return bytes(data)


def mutated_text(rng, data):
    """Of a file, or of a program, which may print JSON"""
    value = facts.known(json.loads, facts.decoded(data)) if rng.random() < 0.7 else None
    if isinstance(value, (dict, list)):
        return json.dumps(mutated_value(rng, value)).encode()
    return mutated_bytes(rng, data)


def mutate(rng, system):
    system.route("10.9.0.1")
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.choice((system.files, system.programs))
        key = rng.choice(sorted(place))
        if rng.random() < 0.1:
            del place[key]
        else:
            place[key] = mutated_text(rng, place[key])


# --- targets -----------------------------------------------------------------------------


def healthy(_):
    """Nothing is wrong with the system that the others change."""
    for which in PEERS[:3]:
        lines = examined(System(NAMES), which, HEALTHY)
        assert {line.level for line in lines} == {"ok"} and len(lines) == 20, lines


def some_system(rng, names):
    return System(names, rng.sample(BREAKS, rng.choice((0, 1, 1, 1, 2, 3))))


def names(rng):
    """Names change the names in what is proposed, and nothing else."""
    given = hostile_names(rng)
    which, seen = rng.choice(PEERS), seen_of_peer(rng)
    plain = some_system(rng, NAMES)
    expected = examined(plain, which, seen)
    found = examined(System(given, plain.broken), which, seen)
    assert [line[0:3:2] for line in found] == [line[0:3:2] for line in expected], (found, expected)
    for one, other in zip(found, expected):
        words = [renamed(word, given) for word in meaning(other.command)]
        assert meaning(one.command) == words, (one.command, words)
        check_dashes(one.command)


def texts(rng):
    """Texts that no program prints are no facts."""
    system = some_system(rng, hostile_names(rng) if rng.random() < 0.5 else NAMES)
    mutate(rng, system)
    for line in examined(system, rng.choice(PEERS), seen_of_peer(rng)):
        words_of(line.command)
        check_dashes(line.command)
        assert program.printable(line.text).isprintable(), line


def printed(rng):
    """All that is printed can be, in any encoding."""
    system = some_system(rng, hostile_names(rng))
    out = io.TextIOWrapper(io.BytesIO(), encoding=rng.choice(("ascii", "latin-1", "utf-8")))
    real = program.health.judge, sys.argv
    lines = examined(system, rng.choice(PEERS), seen_of_peer(rng))
    program.health.judge = lambda _: lines
    sys.argv = ["srnic-doctor"]
    try:
        with contextlib.redirect_stdout(out), system.installed():
            program.main()
    except SystemExit as end:
        assert end.code in (0, 1), end.code
    finally:
        program.health.judge, sys.argv = real
    out.flush()
    text = out.buffer.getvalue().decode(out.encoding)
    assert all(line.isprintable() for line in text.split("\n")), text


QUEUE_PAIRS = {
    "ifindex": 1, "ifname": "sr0", "port": 1, "lqpn": 17, "rqpn": 18, "type": "RC", "state": "ERR",
    "comm": "a", "pid": 1, "drv_failure": "access", "drv_failure_memory": "access right",
    "drv_failure_time": 1764200000000000000, "drv_failure_op": "RDMA WRITE", "drv_failure_psn": 17,
    "drv_failure_length": -4096, "drv_failure_room": "0x10", "drv_failure_syndrome": 0,
    "drv_failure_key": "0x2a17f301", "drv_failure_addr": "0x7f3a5c000000",
    "drv_failure_peer": "192.0.2.7"}
QUEUES = {"ifname": "sr0", "cqn": 17, "comm": "a", "drv_entries": 15, "drv_prod": 16, "drv_cons": 1,
          "drv_overrun": 1, "drv_overrun_why": "full", "drv_overrun_of": "receive",
          "drv_overrun_qpn": 18, "drv_overrun_time": 1764200000000000000}


def failures(rng):
    """What rdma(8) shows of queue pairs is printed, or is not understood."""
    kind, shown = rng.choice((("qp", QUEUE_PAIRS), ("cq", QUEUES)))
    shown = dict(shown, comm=hostile(rng), ifname=hostile(rng))
    data = json.dumps([shown], ensure_ascii=False)
    if kind == "qp" and rng.random() < 0.5:
        shown["drv_failure"] = rng.choice(sorted(program.VERDICTS))
        shown["drv_failure_memory"] = rng.choice(sorted(program.MEMORY))
    system = System(NAMES)
    system.programs = {("rdma",): mutated_text(rng, facts.encoded(data))}
    out, err, message = io.StringIO(), io.StringIO(), ""
    with system.installed(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            program.report(kind, 17, None, rng.random() < 0.5)
        except SystemExit as end:
            message = end.code if isinstance(end.code, str) else ""
    for text in out.getvalue(), err.getvalue(), message:
        assert all(line.isprintable() for line in text.split("\n")), repr(text)


def mad(rng, kind, method, transaction, attribute, data=b""):
    return peer.BTH.pack(peer.UD_SEND_ONLY, 0x40, 0xffff, 1, rng.getrandbits(24)) + \
        peer.DETH.pack(peer.GSI_QKEY, 1) + \
        (peer.MAD.pack(1, kind, 2, method, 0, 0, transaction, attribute, 0, 0) +
         data).ljust(peer.MAD_BYTES, b"\0")


def packet_of(family, source, target, data):
    front = peer.headers(family, source, target, 4711, len(data))
    return front + data + peer.icrc(family, front + data)


# Bytes that routers and offloads may change: type of service, time to live, checksums; traffic
# class, flow label, hop limit; of the UDP header the checksum; of the BTH the first reserved byte
FREE = {socket.AF_INET: (1, 8, 10, 11, 26, 27, 32), socket.AF_INET6: (1, 2, 3, 7, 46, 47, 52)}


def same_packet(family, one, other):
    """Apart from those, and from padding"""
    def kept(packet):
        front = packet[:1] if family == socket.AF_INET else bytes((packet[0] >> 4,))
        return front + bytes(byte for place, byte in enumerate(packet)
                             if place and place not in FREE[family])
    return len(other) >= len(one) and kept(one) == kept(other[:len(one)])


def decisive(family, kind):
    """The bytes of an answer that make it one: addresses, destination port, opcode, queue pair,
    class, method and attribute of the MAD, and the number of the question"""
    udp = peer.header_bytes(family)
    bth, mad_start = udp + 8, udp + 8 + peer.BTH.size + peer.DETH.size
    number = range(mad_start + 8, mad_start + 16) if kind == "perf" else \
        range(mad_start + peer.MAD.size + 4, mad_start + peer.MAD.size + 8)
    return [*range(12 if family == socket.AF_INET else 8, udp), udp + 2, udp + 3, bth,
            *range(bth + 5, bth + 8), mad_start + 1, mad_start + 3, mad_start + 16, *number]


def sealed(family, packet):
    """With the right ICRC, as anybody can send it"""
    return packet[:-4] + peer.icrc(family, packet[:-4])


def forged(rng, family, kind, packet):
    packet = bytearray(packet)
    packet[rng.choice(decisive(family, kind))] ^= rng.randint(1, 255)
    return sealed(family, bytes(packet))


def wire(rng):
    """A packet that is not an answer is none, and an answer is one."""
    (family, (other, *_), _, own) = rng.choice(PEERS[:3])
    asked, mine = rng.getrandbits(32), rng.getrandbits(32)
    request = mad(rng, 7, 3, 1, peer.REQ, struct.pack(">IIQ", mine, 0, 0x01060009))
    kind, answer = rng.choice((
        ("perf", mad(rng, 4, 0x81, asked, 1)),
        ("cm", mad(rng, 7, 3, 1, peer.REJ, struct.pack(">II", 0, mine)))))
    packet = packet_of(family, other, own, answer)
    exchange = peer.Exchange(family, own, other, asked)
    exchange.look(packet_of(family, own, other, request), True)
    exchange.look(forged(rng, family, kind, packet), False)
    assert not exchange.answered, packet
    wrong = mutated_bytes(rng, packet)
    exchange.look(wrong, False)
    assert exchange.answered == ({kind} if same_packet(family, packet, wrong) else set()), wrong
    exchange.look(mutated_bytes(rng, packet_of(family, own, other, request)), True)
    exchange.look(packet, False)
    assert exchange.answered == {kind}


def echoes(rng):
    """A message that is not the reply is none."""
    family = rng.choice((socket.AF_INET, socket.AF_INET6))
    request = peer.echo_request(family, rng.choice((84, 1100)))
    kind = 0 if family == socket.AF_INET else 129
    reply = bytes((kind,)) + request[1:]
    head = b"\x45" + bytes(19) if family == socket.AF_INET else b""
    got = peer.icmp_of(family, socket.SOCK_RAW, mutated_bytes(rng, head + reply))
    same = got[:2] == reply[:2] and got[6:] == reply[6:]
    assert peer.is_reply(family, request, got) == (same and len(got) == len(reply)), got


class Events(peer.Cm):
    """An id of rdma_cm with random events"""

    def __init__(self, rng):
        self.rng, self.id = rng, 1
        self.last = None

    def event(self, end):
        some = (self.rng.randrange(16), self.rng.choice((0, -110, 28, 2**30)))
        self.last = self.rng.choice((None, some, (0, 0), (2, 0)))
        return self.last

    def command(self, number, body, out=0):
        if self.rng.random() < 0.1:
            raise OSError(self.rng.choice((19, 999)), "")


def events(rng):
    """Only what the peer sends is an answer of it."""
    cm = Events(rng)
    outcome = peer.cm_try(peer.cm_exchange, cm, socket.AF_INET, "10.9.0.1", PEERS[0][1], 0)
    assert isinstance(outcome, str)
    assert outcome != "answered" or cm.last[0] in (5, 8, 9), (outcome, cm.last)


def shell(rng):
    """bash(1) reads a quoted name as the name"""
    given = [hostile(rng, 200) for _ in range(500)]
    script = "printf '%s\\0' " + " ".join(map(health.quote, given))
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, check=True)
    assert done.stdout.split(b"\0")[:-1] == [facts.encoded(name) for name in given]


# Functions, and how many rounds of them take as long as those of the others
TARGETS = {healthy: 0, shell: 0.002, names: 1, texts: 1, printed: 0.3, failures: 2, wire: 2,
           echoes: 2, events: 2}


def repeat(target, seed, first, rounds):
    for number in range(first, first + rounds):
        try:
            target(random.Random(f"{seed} {target.__name__} {number}"))
        except Exception:  # whatever it is, the round is to be known
            return (f"to repeat: selftests/meta/mutate.py --seed {seed} --only {target.__name__} "
                    f"--first {number} --rounds 1", traceback.format_exc())
    return ()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=400, help="of each target, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="name of a target")
    parser.add_argument("--first", type=int, default=0, help="round")
    args = parser.parse_args()
    targets = {target: share for target, share in TARGETS.items()
               if args.only in (None, target.__name__)}
    tap = Tap(len(targets))
    for target, share in targets.items():
        rounds = max(1, int(args.rounds * (1 if args.only else share)))
        remarks = repeat(target, args.seed, args.first, rounds)
        tap.check(f"{target.__name__}, seed {args.seed}: {target.__doc__}", not remarks, *remarks)
    tap.end()


main()
