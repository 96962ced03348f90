#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - tshark and scapy dissect injected packets as the drills intend
usage: writer.py PCAP LIST

LIST is the output of "drill -l PCAP".  The fields are compared with those that tshark
shows, or that this program reads from headers unknown to tshark.  The ICRC is that of
scapy, over IPv6 that of lib/roce.py.  The result is TAP.
"""

import collections
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import roce  # noqa: E402
import tap  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.utils import PcapReader  # noqa: E402

# Field names of the drills, and those of tshark
FIELDS = {
    "opcode": "bth.opcode", "psn": "bth.psn", "ackreq": "bth.a",
    "se": "bth.se", "migreq": "bth.m", "pad": "bth.padcnt",
    "tver": "bth.tver", "pkey": "bth.p_key", "dqpn": "bth.destqp",
    "resv7": "bth.reserved7", "qkey": "deth.q_key", "sqpn": "deth.srcqp",
    "va": "reth.va", "rkey": "reth.r_key", "dmalen": "reth.dmalen",
    "swap": "atomiceth.swapdt", "compare": "atomiceth.cmpdt",
    "syn": "aeth.syndrome", "msn": "aeth.msn",
    "orig": "atomicacketh.origremdt", "imm": "immdt", "ikey": "ieth",
}
SACK = {name: "srnic.sack." + name for name in
        ("magic", "version", "reply", "count", "pace", "last")}
SACK_OPCODE, SACK_MAGIC = 0xd3, 0x73524e53
MASKED = {name: "srnic.masked." + name for name in
          ("magic", "version", "mask", "swap_mask", "va", "swap", "compare")}
MASKED |= {"rkey": "srnic.masked.r_key"}
MASKED_OPCODES, MASKED_MAGIC, MASKED_VERSION = (0xd4, 0xd5), 0x73524e4d, 1
DISSECTORS = pathlib.Path(__file__).resolve().parents[2] / "tools/wireshark"
BTH = ("opcode", "psn", "ackreq", "se", "migreq", "pad", "tver", "pkey",
       "dqpn", "resv7")


def listed(name):
    """A dictionary for each packet."""
    with open(name, encoding="ascii") as file:
        return [dict(word.split("=") for word in line.split()) for line in file]


def dissected(name):
    """The fields that tshark shows of each packet: a dictionary of numbers."""
    names = [(ours, "infiniband." + theirs) for ours, theirs in FIELDS.items()]
    names += [*SACK.items(), *MASKED.items()]
    args = ["tshark", "-n", "-r", name, "-o", "udp.ignore_ipv6_zero_checksum:TRUE",
            "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
    for script in sorted(DISSECTORS.glob("*.lua")):
        args += ["-X", f"lua_script:{script}"]
    for _, field in names:
        args += ["-e", field]
    out = subprocess.run(args, check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        yield {ours: number(ours, text) for (ours, _), text in
               zip(names, line.split("|")) if text}


def is_dissected(opcode):
    """Versions of tshark differ in support for XRC, FLUSH, ATOMIC WRITE and CNP."""
    return opcode >> 5 in (0, 1, 3) and opcode & 0x1f < 0x18


def of_ours(want):
    """The fields of srnic's own packets, which have its identifier: others have none."""
    opcode, magic = int(want["opcode"]), int(want.get("magic", 0))
    if opcode == SACK_OPCODE and magic == SACK_MAGIC:
        return SACK
    if opcode in MASKED_OPCODES and magic == MASKED_MAGIC and \
            int(want["version"]) == MASKED_VERSION:
        return MASKED
    return {}


def number(field, text):
    if text in ("True", "False"):
        return int(text == "True")
    # tshark shows these as bytes
    return int(text.replace(":", ""), 16 if field in ("imm", "ikey") else 0)


def unknown(data):
    """Headers that tshark may not support: those of XRC, FLUSH, ATOMIC WRITE."""
    opcode, at, said = data[0], 12, {}
    if opcode in MASKED_OPCODES:
        magic, word, *rest = struct.unpack_from("!IIQQQIQQ", data, at)
        said |= {"magic": magic, "version": word >> 24, "resv24": word & 0xffffff}
        return said | dict(zip(("mask", "swap_mask", "va", "rkey", "swap", "compare"), rest))
    said["becn"] = data[4] >> 6 & 1
    said["fecn"] = data[4] >> 7
    said["resv6"] = data[4] & 0x3f
    operation = opcode & 0x1f
    is_request = operation < 0x0d or operation > 0x12
    if opcode >> 5 == 5 and is_request:
        said["srqn"] = struct.unpack_from("!I", data, at)[0]
        at += 4
    if opcode >> 5 not in (0, 5):
        return said
    if operation == 0x1c:
        feth = struct.unpack_from("!I", data, at)[0]
        said["type"], said["level"] = feth & 15, feth >> 4
        at += 4
    if operation in (0x06, 0x0a, 0x0b, 0x0c, 0x1c, 0x1d):
        said["va"], said["rkey"], said["dmalen"] = \
            struct.unpack_from("!QII", data, at)
        at += 16
    if operation in (0x13, 0x14):
        said["va"], said["rkey"], said["swap"], said["compare"] = \
            struct.unpack_from("!QIQQ", data, at)
    if operation in (0x16, 0x17):
        said["ikey"] = struct.unpack_from("!I", data, at)[0]
    return said


def wrong_fields(want, seen):
    return [f"{name} is {value}, not {want[name]}" for name, value in seen.items()
            if name in want and int(want[name]) != value]


def icrc_is_good(packet):
    wants = {roce.icrc(packet)}
    if IP in packet:
        wants.add(roce.icrc_seen(roce.as_scapy_has_it(packet)))
    return wants == {roce.icrc_seen(packet)}


def main():
    wants = listed(sys.argv[2])
    packets = list(PcapReader(sys.argv[1]))
    shown = list(dissected(sys.argv[1]))
    report = tap.Tap(4)
    wrong = collections.defaultdict(list)
    if not len(wants) == len(packets) == len(shown) > 300:
        wrong["count"].append(f"{len(wants)} meant, {len(packets)} written, "
                              f"{len(shown)} dissected")
    for i, (want, packet, seen) in enumerate(zip(wants, packets, shown)):
        text = f"packet {i + 1}, opcode {int(want['opcode']):#x}: "
        if int(want["malformed"]):
            continue
        missing = [name for name in FIELDS
                   if name in want and name not in seen and
                   (name in BTH or is_dissected(int(want["opcode"])))]
        ours = of_ours(want)
        missing += [name for name in ours if name not in seen]
        extra = {"magic", "mask", "pace"} & seen.keys() - ours.keys()
        wrong["tshark"] += [text + what for what in wrong_fields(want, seen) +
                            [f"no {name}" for name in missing] +
                            [f"it shows {name}" for name in sorted(extra)]]
        wrong["read"] += [text + what for what in
                          wrong_fields(want, unknown(bytes(packet[UDP].payload)))]
        if icrc_is_good(packet) != (want["icrc"] == "good"):
            wrong["icrc"].append(text + f"its ICRC is not {want['icrc']}")
    for what, key in (
            ("all packets are in the capture", "count"),
            ("tshark shows the intended fields", "tshark"),
            ("headers without a dissector have the intended fields", "read"),
            ("each ICRC is right, or wrong as intended", "icrc")):
        report.check(what, not wrong[key], *wrong[key][:10])
    report.end()


main()
