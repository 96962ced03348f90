#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - congestion notifications as scapy understands them

cnp.py judge CAPTURE          are all CNPs in it what scapy would have sent?
cnp.py send SADDR DADDR QPN KIND NUMBER   sends so many; KIND is what is wrong:
                              good, unmarked (no BECN), short, icrc
"""

import socket
import sys

from scapy.all import IP, IPv6, UDP, Raw, raw, rdpcap
from scapy.contrib import roce

PORT = 4791


def ip_of(packet):
    return packet[IP] if IP in packet else packet[IPv6]


def is_cnp(packet):
    return UDP in packet and packet[UDP].dport == PORT and \
        raw(packet[UDP].payload)[0] == roce.CNP_OPCODE


def as_scapy_has_it(packet):
    """The same packet, all that follows UDP being scapy's, with its ICRC."""
    qpn = int.from_bytes(raw(packet[UDP].payload)[5:8], "big")
    ip = ip_of(packet).copy()
    ip[UDP].remove_payload()
    return ip / roce.cnp(qpn)


def judge(capture):
    cnps = [p for p in rdpcap(capture) if is_cnp(p)]
    wrong = [p for p in cnps if raw(as_scapy_has_it(p)) != raw(ip_of(p))]
    tos = {ip_of(p).tos if IP in p else ip_of(p).tc for p in cnps}
    print(f"{len(cnps)} CNPs, {len(wrong)} wrong, of traffic class {tos}")
    for packet in wrong[:3]:
        print(raw(ip_of(packet)).hex(), raw(as_scapy_has_it(packet)).hex())
    return not cnps or wrong or tos != {0xc2}


def made(saddr, daddr, qpn, kind):
    bth = roce.cnp(qpn)
    if kind == "unmarked":
        bth.becn = 0
    if kind == "short":
        bth = roce.BTH(opcode=roce.CNP_OPCODE, becn=1, dqpn=qpn) / Raw(bytes(12))
    packet = bytearray(raw(IP(src=saddr, dst=daddr, id=1) /
                           UDP(sport=49152, dport=PORT, chksum=0) / bth))
    if kind == "icrc":
        packet[-1] ^= 1
    return bytes(packet)


def send(saddr, daddr, qpn, kind, number):
    packet = made(saddr, daddr, int(qpn), kind)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW,
                       socket.IPPROTO_RAW) as sock:
        for _ in range(int(number)):
            sock.sendto(packet, (daddr, 0))
    return False


sys.exit(bool({"judge": judge, "send": send}[sys.argv[1]](*sys.argv[2:])))
