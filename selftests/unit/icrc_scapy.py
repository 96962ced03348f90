# SPDX-License-Identifier: GPL-2.0
"""
srnic - the driver's ICRC equals that computed by scapy
usage: icrc_scapy.py COMMAND...

Random packets, with all kinds of headers that the ICRC masks, are given to
scapy.contrib.roce and to the program built from drivers/srnic/wire.
"""

import logging
import pathlib
import random
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import tap  # noqa: E402

PACKETS = 300

logging.getLogger("scapy").setLevel(logging.CRITICAL)
try:
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.packet import Raw
except ImportError as missing:
    tap.skip_all(f"scapy is missing: {missing}")

rand = random.Random(4791)


def bits(count):
    return rand.getrandbits(count)


def transport():
    """UDP header and everything after it; scapy adds the ICRC."""
    room = 4 * rand.choice((0, 1, 2, 7, 16, 63, 256, 1024))
    return (
        UDP(sport=bits(16), dport=4791, chksum=bits(16))
        / BTH(opcode=bits(8), solicited=bits(1), migreq=bits(1),
              padcount=bits(2), pkey=bits(16), fecn=bits(1), becn=bits(1),
              resv6=bits(6), dqpn=bits(24), ackreq=bits(1), resv7=bits(7),
              psn=bits(24))
        / Raw(rand.randbytes(room))
    )


def packet_v4():
    address = [".".join(str(bits(8)) for _ in range(4)) for _ in "sd"]
    return IP(tos=bits(8), id=bits(16), flags=rand.choice(("", "DF")),
              ttl=bits(8), src=address[0], dst=address[1]) / transport()


def packet_v6():
    address = [":".join(f"{bits(16):x}" for _ in range(8)) for _ in "sd"]
    return IPv6(tc=bits(8), fl=bits(20), hlim=bits(8), src=address[0],
                dst=address[1]) / transport()


def scapy_knows_v6():
    """scapy 2.5 leaves the ICRC over IPv6 at zero."""
    return any(bytes(packet_v6())[-4:] != bytes(4) for _ in range(3))


def icrc_v6(packet):
    """The ICRC computed independently according to annex A17."""
    masked = IPv6(packet[:-4])
    masked.tc, masked.fl, masked.hlim = 0xff, 0xfffff, 0xff
    udp = masked[UDP]
    udp.chksum = 0xffff
    rest = bytearray(packet[48:-4])
    rest[4] = 0xff
    udp.remove_payload()
    covered = bytes(8 * [0xff]) + bytes(masked) + bytes(rest)
    return zlib.crc32(covered).to_bytes(4, "little")


def compare(what, make, expected):
    """Checks the driver's ICRC of packets of make() against the expected one."""
    packets = [bytes(make()) for _ in range(PACKETS)]
    ours = subprocess.run(
        sys.argv[1:], input="".join(p.hex() + "\n" for p in packets),
        stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    wrong = [(p, icrc) for p, icrc in zip(packets, ours)
             if expected(p).hex() != icrc]
    report.check(what, len(ours) == PACKETS and not wrong,
                 *(f"{p.hex()}: we say {icrc}, not {expected(p).hex()}"
                   for p, icrc in wrong[:3]))


def last_four(packet):
    return packet[-4:]


report = tap.Tap(3)
compare(f"IPv4: {PACKETS} random packets have the ICRC of scapy", packet_v4, last_four)
compare(f"IPv6: {PACKETS} random packets have the ICRC of zlib", packet_v6, icrc_v6)
if scapy_knows_v6():
    compare(f"IPv6: {PACKETS} random packets have the ICRC of scapy", packet_v6,
            last_four)
else:
    report.skip("IPv6: ICRC of scapy", "this scapy supports IPv4 only")
report.end()
