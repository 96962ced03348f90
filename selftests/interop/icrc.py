# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - each RoCEv2 packet of a capture carries the ICRC it should
usage: icrc.py FILE

Prints "GOOD BAD"; the ICRC over IPv4 is that of scapy, over IPv6 our own
reading of annex A17, since scapy leaves that at zero.
"""

import logging
import sys
import zlib

logging.getLogger("scapy").setLevel(logging.CRITICAL)
from scapy.contrib.roce import BTH  # noqa: E402
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.utils import PcapReader  # noqa: E402


def icrc_masked(packet):
    """All that a router may change counts as ones."""
    if IPv6 in packet:
        raw = bytearray(bytes(packet[IPv6]))[:40 + packet[IPv6].plen]
        raw[0] |= 0x0f
        raw[1:4] = b"\xff\xff\xff"
        raw[7] = 0xff
        udp = 40
    else:
        raw = bytearray(bytes(packet[IP]))[:packet[IP].len]
        raw[1] = 0xff
        raw[8] = 0xff
        raw[10:12] = b"\xff\xff"
        udp = 4 * (raw[0] & 15)
    raw[udp + 6:udp + 8] = b"\xff\xff"
    raw[udp + 8 + 4] = 0xff
    crc = zlib.crc32(bytes(8 * [0xff]) + bytes(raw[:-4]))
    return crc.to_bytes(4, "little")


def icrc_seen(packet):
    if IPv6 in packet:
        return bytes(packet[IPv6])[:40 + packet[IPv6].plen][-4:]
    return bytes(packet[IP])[:packet[IP].len][-4:]


def icrc_scapy(packet):
    """What scapy writes behind the same packet when it builds it anew."""
    raw = bytes(packet[IP])[:packet[IP].len]
    again = IP(raw)
    again[BTH].icrc = None
    return bytes(again)[-4:]


def main():
    good = bad = 0
    for packet in PcapReader(sys.argv[1]):
        if UDP not in packet or packet[UDP].dport != 4791:
            continue
        wants = {icrc_masked(packet)}
        if IP in packet:
            wants.add(icrc_scapy(packet))
        if wants == {icrc_seen(packet)}:
            good += 1
        else:
            bad += 1
            print(f"{packet.summary()}: {icrc_seen(packet).hex()}, not "
                  f"{' or '.join(w.hex() for w in wants)}", file=sys.stderr)
    print(good, bad)


main()
