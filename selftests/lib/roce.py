#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - RoCEv2 packets made, sent and captured by scapy

As a module:

  packet(src, dst, opcode, qpn, psn, *headers, payload=b"", ...)
                        one packet, IPv4 or IPv6 by its addresses
  RETH AETH AtomicETH AtomicAckETH DETH ImmDt IETH XRCETH
                        extended transport headers, as scapy layers
  send(packets, dev=None)               by a raw socket
  send_frames(dev, packets, ...)        by a packet socket, as Ethernet frames
  Tap(name)                             a tap device, which receives the frames sent by this class
  Nic(name)                             a tap device that receives them in page fragments
  Capture(dev)                          RoCEv2 packets sent and received by a device
  readable(file)                        waits for a packet
  fragments(packet, size)               IPv4 fragments of it
  icrc(packet), icrc_seen(packet)       the expected ICRC, and the actual one

As a program, for scripts:

  roce.py SRC DST OPCODE QPN [PSN] [--payload HEX|@BYTES] [--count N] [--dev DEV]
          [--bad-icrc] [--reth VA,RKEY,LENGTH] [--deth QKEY,SQPN] [--aeth SYNDROME,MSN]
          [--ackreq] [--becn] [--pkey N] [--sport N]

OPCODE is a name as scapy has it (RC_SEND_ONLY, UD_SEND_ONLY, CNP) or a number.
Python must be the distribution's, /usr/bin/python3, which has its scapy.
"""

import argparse
import contextlib
import fcntl
import logging
import os
import select
import socket
import struct
import sys
import zlib

import tap

logging.getLogger("scapy").setLevel(logging.CRITICAL)
from scapy.compat import raw  # noqa: E402
from scapy.contrib.roce import AETH, BTH, CNP_OPCODE, CNPPadding  # noqa: E402
from scapy.fields import (IntField, XBitField, XByteField,  # noqa: E402
                          XIntField, XLongField)
from scapy.layers.inet import IP, UDP, fragment  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import Dot1Q, Ether  # noqa: E402
from scapy.packet import Packet, Raw, bind_layers  # noqa: E402

PORT = 4791
SPORT = 0xc000
SO_RCVBUFFORCE = 33
PKEY_DEFAULT = 0xffff

_TRANSPORTS = {"RC": 0x00, "UC": 0x20, "RD": 0x40, "UD": 0x60, "XRC": 0xa0}
_OPS = {
    "SEND_FIRST": 0x00, "SEND_MIDDLE": 0x01, "SEND_LAST": 0x02,
    "SEND_LAST_WITH_IMMEDIATE": 0x03, "SEND_ONLY": 0x04,
    "SEND_ONLY_WITH_IMMEDIATE": 0x05, "RDMA_WRITE_FIRST": 0x06,
    "RDMA_WRITE_MIDDLE": 0x07, "RDMA_WRITE_LAST": 0x08,
    "RDMA_WRITE_LAST_WITH_IMMEDIATE": 0x09, "RDMA_WRITE_ONLY": 0x0a,
    "RDMA_WRITE_ONLY_WITH_IMMEDIATE": 0x0b, "RDMA_READ_REQUEST": 0x0c,
    "RDMA_READ_RESPONSE_FIRST": 0x0d, "RDMA_READ_RESPONSE_MIDDLE": 0x0e,
    "RDMA_READ_RESPONSE_LAST": 0x0f, "RDMA_READ_RESPONSE_ONLY": 0x10,
    "ACKNOWLEDGE": 0x11, "ATOMIC_ACKNOWLEDGE": 0x12, "COMPARE_SWAP": 0x13,
    "FETCH_ADD": 0x14, "SEND_LAST_WITH_INVALIDATE": 0x16,
    "SEND_ONLY_WITH_INVALIDATE": 0x17, "FLUSH": 0x1c, "ATOMIC_WRITE": 0x1d,
}

# All opcodes by their names: RC_SEND_ONLY and the like
OPCODES = {f"{t}_{o}": tn | on for t, tn in _TRANSPORTS.items()
           for o, on in _OPS.items()}
OPCODES["CNP"] = CNP_OPCODE


class _ETH(Packet):
    """An extended transport header; the bytes after it are no layer."""

    def guess_payload_class(self, payload):
        return Raw


class RETH(_ETH):
    name = "RETH"
    fields_desc = [XLongField("va", 0), XIntField("rkey", 0),
                   IntField("dmalen", 0)]


class AtomicETH(_ETH):
    name = "AtomicETH"
    fields_desc = [XLongField("va", 0), XIntField("rkey", 0),
                   XLongField("swap", 0), XLongField("compare", 0)]


class AtomicAckETH(_ETH):
    name = "AtomicAckETH"
    fields_desc = [XLongField("orig", 0)]


class DETH(_ETH):
    name = "DETH"
    fields_desc = [XIntField("qkey", 0), XByteField("resv", 0),
                   XBitField("sqpn", 0, 24)]


class ImmDt(_ETH):
    name = "ImmDt"
    fields_desc = [XIntField("imm", 0)]


class IETH(_ETH):
    name = "IETH"
    fields_desc = [XIntField("rkey", 0)]


class XRCETH(_ETH):
    name = "XRCETH"
    fields_desc = [XByteField("resv", 0), XBitField("srqn", 0, 24)]


for _t in ("RC", "UC"):
    for _o in ("RDMA_WRITE_FIRST", "RDMA_WRITE_ONLY",
               "RDMA_WRITE_ONLY_WITH_IMMEDIATE", "RDMA_READ_REQUEST"):
        bind_layers(BTH, RETH, opcode=OPCODES[f"{_t}_{_o}"])
for _o in ("RDMA_READ_RESPONSE_FIRST", "RDMA_READ_RESPONSE_LAST",
           "RDMA_READ_RESPONSE_ONLY", "ATOMIC_ACKNOWLEDGE"):
    bind_layers(BTH, AETH, opcode=OPCODES[f"RC_{_o}"])
for _o in ("COMPARE_SWAP", "FETCH_ADD"):
    bind_layers(BTH, AtomicETH, opcode=OPCODES[f"RC_{_o}"])
for _o in ("SEND_ONLY", "SEND_ONLY_WITH_IMMEDIATE"):
    bind_layers(BTH, DETH, opcode=OPCODES[f"UD_{_o}"])


def opcode_of(opcode):
    """A number, from a number or a name."""
    if isinstance(opcode, int):
        return opcode
    return OPCODES[opcode] if opcode in OPCODES else int(opcode, 0)


def ip_of(pkt):
    return pkt[IP] if IP in pkt else pkt[IPv6]


def is_roce(pkt):
    return UDP in pkt and pkt[UDP].dport == PORT


def _ip_bytes(pkt):
    """From the IP header to the ICRC, without padding of the link."""
    if IPv6 in pkt:
        data = raw(pkt[IPv6])
        return data[:40 + struct.unpack_from("!H", data, 4)[0]]
    data = raw(pkt[IP])
    return data[:struct.unpack_from("!H", data, 2)[0]]


def icrc(pkt):
    """IBTA A17.3.3: fields that a router may change are replaced by ones."""
    data = bytearray(_ip_bytes(pkt))
    if IPv6 in pkt:
        data[0] |= 0x0f
        data[1:4] = b"\xff\xff\xff"
        data[7] = 0xff
        udp = 40
    else:
        data[1] = 0xff
        data[8] = 0xff
        data[10:12] = b"\xff\xff"
        udp = 4 * (data[0] & 15)
    data[udp + 6:udp + 8] = b"\xff\xff"
    data[udp + 8 + 4] = 0xff
    crc = zlib.crc32(bytes(8 * [0xff]) + bytes(data[:-4]))
    return crc.to_bytes(4, "little")


def icrc_seen(pkt):
    return _ip_bytes(pkt)[-4:]


def packet(src, dst, opcode, qpn, psn=0, *headers, payload=b"",
           bad_icrc=False, sport=SPORT, tos=0, ttl=64, ip_id=1, df=True,
           udp_len=None, checksum=False, trailer=b"", **bth):
    """
    One packet as a scapy layer, IP first.  *headers* go between BTH and
    *payload*, which is padded to 4 bytes.  Further keywords are fields of the
    BTH (ackreq, solicited, migreq, becn, pkey, padcount ...).  *bad_icrc*
    inverts one bit.  *df* must be unset for a packet that will be fragmented: the
    ICRC covers it.  *udp_len* is what the UDP header says instead of the truth,
    *trailer* follows the ICRC within the IP datagram.  With *checksum* UDP has one.
    """
    body = b"".join(raw(h) for h in headers) + payload
    pad = -len(payload) % 4
    bth.setdefault("padcount", pad)
    bth.setdefault("migreq", 1)
    transport = raw(BTH(opcode=opcode_of(opcode), dqpn=qpn, psn=psn, icrc=0,
                        **bth))[:-4]
    transport += body + bytes(pad)
    inner = transport + bytes(4)
    udp = UDP(sport=sport, dport=PORT, chksum=0,
              len=udp_len if udp_len is not None else 8 + len(inner))
    if ":" in dst:
        ip = IPv6(src=src, dst=dst, tc=tos, hlim=ttl)
    else:
        ip = IP(src=src, dst=dst, tos=tos, ttl=ttl, id=ip_id,
                flags="DF" if df else 0)
    # UDP's payload is opaque, so that nothing is built anew behind our back.
    whole = type(ip)(raw(ip / udp / Raw(inner)))
    crc = bytearray(icrc(whole))
    if bad_icrc:
        crc[0] ^= 1
    if checksum:
        udp.chksum = None
    return type(ip)(raw(ip / udp / Raw(transport + bytes(crc) + trailer)))


def cnp(src, dst, qpn, becn=1, **more):
    """A congestion notification, by scapy's own class"""
    return packet(src, dst, CNP_OPCODE, qpn, 0, CNPPadding(), becn=becn,
                  migreq=0, **more)


def as_scapy_has_it(pkt):
    """An IPv4 packet, all that follows UDP rebuilt by scapy, with its ICRC."""
    again = IP(_ip_bytes(pkt))
    again[BTH].icrc = None
    return IP(raw(again))


def fragments(pkt, size):
    """IPv4 fragments that carry at most *size* bytes each."""
    return fragment(pkt, fragsize=size)


def _as_list(packets):
    return [packets] if isinstance(packets, (Packet, bytes)) else packets


def send(packets, dev=None):
    """Sends IP packets by a raw socket, which routes them; all of one family."""
    packets = [raw(p) for p in _as_list(packets)]
    v6 = packets[0][0] >> 4 == 6
    family = socket.AF_INET6 if v6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
        if dev:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE,
                            dev.encode() + b"\0")
        for data in packets:
            dst = socket.inet_ntop(family, data[24:40] if v6 else data[16:20])
            sock.sendto(data, (dst, 0))


def frame(pkt, src="02:00:00:00:00:01", dst="ff:ff:ff:ff:ff:ff", vlan=None):
    """An Ethernet frame around an IP packet."""
    ether = Ether(src=src, dst=dst)
    if vlan is not None:
        ether = ether / Dot1Q(vlan=vlan)
    return raw(ether / pkt)


def mac_of(dev):
    with open(f"/sys/class/net/{dev}/address", encoding="ascii") as file:
        return file.read().strip()


def send_frames(dev, packets, dst="ff:ff:ff:ff:ff:ff", src=None, vlan=None):
    """Sends IP packets out of *dev* as frames; no route is looked up."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((dev, 0))
        for pkt in _as_list(packets):
            sock.send(frame(pkt, src or mac_of(dev), dst, vlan))


def readable(file, wait=True):
    """There is something to read, now or at last."""
    if select.select([file], [], [], tap.tap_bound() if wait else 0)[0]:
        return True
    if wait:
        tap.tap_late("a packet")
    return False


class _Tun(contextlib.AbstractContextManager):
    """A tap device, until the end of a with block."""

    _TUNSETIFF = 0x400454ca
    _IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000

    def __init__(self, name, flags):
        self.name = name
        self.fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.fd, self._TUNSETIFF,
                    struct.pack("16sH22x", name.encode(),
                                self._IFF_TAP | self._IFF_NO_PI | flags))

    def close(self):
        os.close(self.fd)

    def __exit__(self, *args):
        self.close()


class Tap(_Tun):
    """
    A tap device.  What is sent comes in there, as from a wire, with a header of
    virtio-net if one is given (*gso_type* as in linux/virtio_net.h).
    """

    _IFF_VNET_HDR = 0x4000

    def __init__(self, name):
        super().__init__(name, self._IFF_VNET_HDR)

    def send(self, packets, dst=None, src="02:00:00:00:00:01", vlan=None,
             flags=0, gso_type=0, hdr_len=0, gso_size=0, csum_start=0,
             csum_offset=0):
        header = struct.pack("=BBHHHH", flags, gso_type, hdr_len, gso_size,
                             csum_start, csum_offset)
        for pkt in _as_list(packets):
            data = pkt if isinstance(pkt, bytes) else \
                frame(pkt, src, dst or mac_of(self.name), vlan)
            os.write(self.fd, header + data)


class Nic(_Tun):
    """
    A tap device that receives frames in page fragments, and whose file gives those
    that the host sends.
    """

    _IFF_NAPI, _IFF_NAPI_FRAGS = 0x0010, 0x0020
    HEAD, MAX_FRAGS, PAGE = 14, 17, 4096

    def __init__(self, name):
        super().__init__(name, self._IFF_NAPI | self._IFF_NAPI_FRAGS)

    def send(self, data, cuts):
        """The head of the skb ends at the first of *cuts*, each fragment at the next."""
        at = sorted(c for c in set(cuts) if self.HEAD <= c < len(data))
        for start, end in list(zip(at, at[1:] + [len(data)])):
            at += range(start + self.PAGE, end, self.PAGE)
        at.sort()
        pieces = [data[a:b] for a, b in zip([0] + at, at + [len(data)])]
        assert len(pieces) <= self.MAX_FRAGS + 1
        assert os.writev(self.fd, pieces) == len(data)

    def next(self, wait=True):
        """The next frame from the host, as scapy layers; None: there is none."""
        if not readable(self.fd, wait):
            return None
        return Ether(os.read(self.fd, 65536))


class Capture(contextlib.AbstractContextManager):
    """
    RoCEv2 packets that pass *dev*, in either direction, from the moment it is
    made.  A packet socket sees chains of packets that the stack has not split:
    switch tx-gso-list and tx-udp-segmentation of the device off before.
    """

    def __init__(self, dev, want=is_roce):
        self.want = want
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(0x0003))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
        self.sock.bind((dev, 0x0003))
        self.sock.setblocking(False)

    def next(self, wait=True):
        """The next packet, as scapy layers from Ethernet on; None: there is none."""
        while readable(self.sock, wait):
            pkt = Ether(self.sock.recv(65536))
            if self.want(pkt):
                return pkt
        return None

    def all(self):
        """What has come by now."""
        return list(iter(lambda: self.next(wait=False), None))

    def close(self):
        self.sock.close()

    def __exit__(self, *args):
        self.close()


def _numbers(text):
    return [int(n, 0) for n in text.split(",")]


def _payload(text):
    return bytes(int(text[1:], 0)) if text[0] == "@" else bytes.fromhex(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("src")
    parser.add_argument("dst")
    parser.add_argument("opcode")
    parser.add_argument("qpn", type=lambda n: int(n, 0))
    parser.add_argument("psn", type=lambda n: int(n, 0), nargs="?", default=0)
    parser.add_argument("--payload", type=_payload, default=b"")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--dev")
    parser.add_argument("--bad-icrc", action="store_true")
    parser.add_argument("--ackreq", action="store_true")
    parser.add_argument("--becn", action="store_true")
    parser.add_argument("--pkey", type=lambda n: int(n, 0), default=PKEY_DEFAULT)
    parser.add_argument("--sport", type=int, default=SPORT)
    parser.add_argument("--reth", type=_numbers)
    parser.add_argument("--deth", type=_numbers)
    parser.add_argument("--aeth", type=_numbers)
    arg = parser.parse_args()
    headers = []
    if arg.reth:
        headers.append(RETH(va=arg.reth[0], rkey=arg.reth[1],
                            dmalen=arg.reth[2]))
    if arg.deth:
        headers.append(DETH(qkey=arg.deth[0], sqpn=arg.deth[1]))
    if arg.aeth:
        headers.append(AETH(syndrome=arg.aeth[0], msn=arg.aeth[1]))
    if opcode_of(arg.opcode) == CNP_OPCODE:
        headers.append(CNPPadding())
    pkt = raw(packet(arg.src, arg.dst, arg.opcode, arg.qpn, arg.psn, *headers,
                     payload=arg.payload, bad_icrc=arg.bad_icrc,
                     sport=arg.sport, ackreq=int(arg.ackreq),
                     becn=int(arg.becn), pkey=arg.pkey))
    send([pkt] * arg.count, arg.dev)


if __name__ == "__main__":
    sys.exit(main())
