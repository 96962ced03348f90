#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - congestion notifications as scapy understands them

cnp.py judge CAPTURE          are all CNPs in it what scapy would have sent?
cnp.py send SADDR DADDR QPN KIND NUMBER   sends NUMBER CNPs; KIND is their fault:
                              good, unmarked (no BECN), short, icrc
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import roce  # noqa: E402
from scapy.all import IP, UDP, raw, rdpcap  # noqa: E402
from scapy.contrib.roce import CNP_OPCODE, cnp  # noqa: E402


def is_cnp(packet):
    return roce.is_roce(packet) and raw(packet[UDP].payload)[0] == CNP_OPCODE


def as_scapy_has_it(packet):
    """The same packet with scapy's BTH, payload and ICRC behind the UDP header."""
    qpn = int.from_bytes(raw(packet[UDP].payload)[5:8], "big")
    ip = roce.ip_of(packet).copy()
    ip[UDP].remove_payload()
    return ip / cnp(qpn)


def judge(capture):
    cnps = [p for p in rdpcap(capture) if is_cnp(p)]
    wrong = [p for p in cnps if raw(as_scapy_has_it(p)) != raw(roce.ip_of(p))]
    tos = {p[IP].tos if IP in p else roce.ip_of(p).tc for p in cnps}
    print(f"{len(cnps)} CNPs, {len(wrong)} wrong, of traffic class {tos}")
    for packet in wrong[:3]:
        print(raw(roce.ip_of(packet)).hex(), raw(as_scapy_has_it(packet)).hex())
    return not cnps or wrong or tos != {0xc2}


def made(saddr, daddr, qpn, kind):
    if kind == "short":
        return roce.packet(saddr, daddr, CNP_OPCODE, qpn, payload=bytes(12),
                           becn=1, migreq=0)
    return roce.cnp(saddr, daddr, qpn, becn=int(kind != "unmarked"),
                    bad_icrc=kind == "icrc")


def send(saddr, daddr, qpn, kind, number):
    roce.send([raw(made(saddr, daddr, int(qpn), kind))] * int(number))
    return False


sys.exit(bool({"judge": judge, "send": send}[sys.argv[1]](*sys.argv[2:])))
