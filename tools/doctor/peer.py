# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
srnic-doctor - peer: what can be learnt by sending packets to another host

Three probes, none of which needs a program at the other end:

echo   ICMP echo requests, small ones and ones as long as the packets of a path MTU.

udp    A request to the performance management agent that every RDMA device of Linux has
       behind QP1.  It is sent by an ordinary UDP socket, so the host's own firewall
       (EPERM) and "port unreachable" (ECONNREFUSED) show.  The answer goes to the local
       RDMA device; only a packet socket can see it.

cm     A connection request by the kernel's rdma_cm, to a service that does not exist: the
       peer's connection manager rejects it.  That takes no privileges.

tap    A packet socket, if permitted.  It sees what arrives before the firewall does.
"""

import ctypes
import errno
import os
import select
import socket
import struct
import time
import zlib

from doctor import facts

PORT = 4791
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, IP_RECVERR, IPV6_RECVERR = 10, 23, 11, 25
PMTUDISC_DO, PMTUDISC_PROBE = 2, 3
ETH_P_ALL, PACKET_OUTGOING = 3, 4
MTUS = (4096, 2048, 1024, 512, 256)
BTH, DETH, MAD = struct.Struct(">BBHII"), struct.Struct(">II"), struct.Struct(">BBBBHHQHHI")
UD_SEND_ONLY, GSI_QKEY, MAD_BYTES = 0x64, 0x80010000, 256
CLASSES = {4: "perf", 7: "cm"}


def resolve(name):
    """(family, address) of a host name or an address"""
    family, _, _, _, address = socket.getaddrinfo(name, PORT, type=socket.SOCK_DGRAM)[0]
    return family, address


# --- echo --------------------------------------------------------------------------------


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff


def echo_socket(family):
    """Unprivileged if sysctl net.ipv4.ping_group_range permits it"""
    protocol = socket.IPPROTO_ICMP if family == socket.AF_INET else socket.IPPROTO_ICMPV6
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            return socket.socket(family, kind, protocol)
        except PermissionError:
            continue
    return None


def header_bytes(family):
    return 20 if family == socket.AF_INET else 40


def echo(family, address, length, seconds):
    """Is an IP packet of that length answered?  None if it could not be sent."""
    sock = echo_socket(family)
    if sock is None:
        return None
    ipv4 = family == socket.AF_INET
    request, reply = (8, 0) if ipv4 else (128, 129)
    cookie = os.urandom(8)
    body = cookie + bytes((length - header_bytes(family) - 16) & ~1)
    packet = struct.pack(">BBHHH", request, 0, 0, os.getpid() & 0xffff, 1) + body
    packet = packet[:2] + struct.pack(">H", checksum(packet)) + packet[4:]
    with sock:
        if ipv4:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_PROBE)
        else:
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_PROBE)
        end = time.monotonic() + seconds
        try:
            sock.sendto(packet, (address[0], 0, *address[2:]))
            while select.select([sock], [], [], max(0, end - time.monotonic()))[0]:
                data = sock.recv(65536)
                if data.endswith(body) and data[-len(packet)] == reply:
                    return True
        except OSError:  # too long for the route, or an ICMP error
            pass
    return False


def packet_bytes(family, mtu):
    """The longest packet of that path MTU: UDP, BTH, RETH with immediate, ICRC"""
    return header_bytes(family) + 8 + 12 + 20 + mtu + 4


def largest_mtu(family, address, seconds):
    """The largest path MTU whose packets arrive; the first of them may be too long here."""
    return next((mtu for mtu in MTUS
                 if echo(family, address, packet_bytes(family, mtu), seconds)), None)


# --- udp ---------------------------------------------------------------------------------


def icrc(family, own, other, sport, packet):
    """Of a packet from the BTH on: routers may change the fields that count as ones."""
    length = 8 + len(packet) + 4
    if family == socket.AF_INET:
        ip = struct.pack(">BBHHHBBH", 0x45, 0xff, 20 + length, 0, 0x4000, 0xff,
                         socket.IPPROTO_UDP, 0xffff)
    else:
        ip = struct.pack(">IHBB", 0x6fffffff, length, socket.IPPROTO_UDP, 0xff)
    ip += socket.inet_pton(family, own) + socket.inet_pton(family, other)
    udp = struct.pack(">HHHH", sport, PORT, length, 0xffff)
    bth = packet[:4] + b"\xff" + packet[5:12]
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + bth + packet[12:]))


def question():
    """Get(ClassPortInfo) of the performance management class, from QP1 to QP1"""
    mad = MAD.pack(1, 4, 1, 1, 0, 0, int.from_bytes(os.urandom(4), "big"), 1, 0, 0)
    return (BTH.pack(UD_SEND_ONLY, 0x40, 0xffff, 1, 0) + DETH.pack(GSI_QKEY, 1) +
            mad.ljust(MAD_BYTES, b"\0"))


def udp_socket(family, own):
    """Its IPv4 packets have identification 0, because it sets DF and is not connected."""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO)
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_DO)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
    sock.bind((own, 0))
    return sock


def udp_send(family, own, address):
    """(socket, error name or None)"""
    try:
        sock = udp_socket(family, own)
    except OSError as error:
        return None, errno.errorcode[error.errno]
    packet = question()
    try:
        sock.sendto(packet + icrc(family, own, address[0], sock.getsockname()[1], packet),
                    address)
    except OSError as error:
        return sock, errno.errorcode[error.errno]
    return sock, None


def udp_error(sock):
    """What an ICMP message has told the socket since"""
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode[code] if code else None


# --- tap ---------------------------------------------------------------------------------


def tap_open(netdev):
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        tap.bind((netdev, ETH_P_ALL))
    except OSError:
        return None
    tap.setblocking(False)
    return tap


def management_class(family, packet, other):
    """The class of a MAD from *other* to the RoCE port, or None"""
    start = header_bytes(family)
    source = packet[12:16] if family == socket.AF_INET else packet[8:24]
    protocol = packet[9:10] if family == socket.AF_INET else packet[6:7]
    mad = start + 8 + BTH.size + DETH.size
    if source != socket.inet_pton(family, other) or protocol[0] != socket.IPPROTO_UDP or \
            len(packet) < mad + MAD_BYTES or packet[start + 8] != UD_SEND_ONLY or \
            struct.unpack_from(">H", packet, start + 2)[0] != PORT:
        return None
    return CLASSES.get(packet[mad + 1])


def tap_read(tap, family, other):
    """The classes of MADs that have arrived from the peer"""
    seen = set()
    while True:
        try:
            packet, origin = tap.recvfrom(2048)
        except OSError:
            return seen - {None}
        if origin[2] != PACKET_OUTGOING and len(packet) > header_bytes(family):
            seen.add(management_class(family, packet, other))


# --- udp and tap -------------------------------------------------------------------------


def answers(sock, tap, family, other, seconds):
    """(error name or None, sorted classes of MADs); waits until there is one of either"""
    end = time.monotonic() + seconds
    while True:
        left = max(0, end - time.monotonic())
        ready = select.select([one for one in (sock, tap) if one], [], [], left)[0]
        error = udp_error(sock) if sock in ready else None
        seen = tap_read(tap, family, other) if tap in ready else set()
        if error or seen or left == 0 or not ready:
            return error, sorted(seen)


# --- cm ----------------------------------------------------------------------------------


class Cm:
    """One id of rdma_cm, by the commands of linux/rdma/rdma_user_cm.h"""

    CREATE, RESOLVE_ROUTE, CONNECT, GET_EVENT, RESOLVE_ADDR = 0, 4, 6, 12, 21
    PS_TCP, QPT_RC = 0x0106, 2
    SERVICE = 9	# discard: nobody offers that by RDMA
    EVENT_BYTES = 512
    RESOLVED, ROUTED, REJECTED, UNREACHABLE = 0, 2, 8, 7

    def __init__(self):
        self.fd = os.open("/dev/infiniband/rdma_cm", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        # there are no events for an id whose user data, the first member, is 0
        self.id = struct.unpack("=I", self.ask(
            self.CREATE, 4, lambda out: struct.pack("=QQHB5x", 1, out, self.PS_TCP,
                                                    self.QPT_RC)))[0]

    def command(self, number, body, out=0):
        os.write(self.fd, struct.pack("=IHH", number, len(body), out) + body)

    def ask(self, number, length, body):
        """A command that writes its response to an address, which body(address) names"""
        room = ctypes.create_string_buffer(length)
        self.command(number, body(ctypes.addressof(room)), length)
        return room.raw

    def event(self, end):
        """(event, status), or None if there is none until *end*"""
        if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
            return None
        data = self.ask(self.GET_EVENT, self.EVENT_BYTES, lambda out: struct.pack("=Q", out))
        return struct.unpack_from("=Ii", data, 12)

    @staticmethod
    def address(family, host, port, scope=0):
        if family == socket.AF_INET:
            text = struct.pack("=H", family) + struct.pack(">H", port) + \
                socket.inet_pton(family, host)
        else:
            text = struct.pack("=H", family) + struct.pack(">HI", port, 0) + \
                socket.inet_pton(family, host) + struct.pack("=I", scope)
        return text.ljust(128, b"\0")

    def resolve_addr(self, family, own, other, scope):
        size = 16 if family == socket.AF_INET else 28
        self.command(self.RESOLVE_ADDR, struct.pack("=IIHHI", self.id, 4000, size, size, 0) +
                     self.address(family, own, 0, scope) +
                     self.address(family, other, self.SERVICE, scope))

    def resolve_route(self):
        self.command(self.RESOLVE_ROUTE, struct.pack("=II", self.id, 4000))

    def connect(self):
        parameters = struct.pack("=II256x8B", 2, 0, 0, 0, 0, 0, 0, 0, 0, 1)
        self.command(self.CONNECT, parameters + struct.pack("=IIII", self.id, 0, 0, 0))

    def close(self):
        os.close(self.fd)


def cm_exchange(cm, family, own, address, end):
    """answered, silent, or what failed"""
    scope = address[3] if family == socket.AF_INET6 else 0
    for step, expected in ((lambda: cm.resolve_addr(family, own, address[0], scope), cm.RESOLVED),
                           (cm.resolve_route, cm.ROUTED)):
        step()
        event = cm.event(end)
        if event is None or event[0] != expected:
            return errno.errorcode.get(-event[1], "no device") if event else "ETIMEDOUT"
    cm.connect()
    event = cm.event(end)
    return "silent" if event is None or event[0] == cm.UNREACHABLE else "answered"


def cm_probe(family, own, address, seconds):
    """As cm_exchange(); None if there is no rdma_cm"""
    try:
        cm = Cm()
    except OSError:
        return None
    try:
        return cm_exchange(cm, family, own, address, time.monotonic() + seconds)
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        cm.close()


# --- all of it ---------------------------------------------------------------------------


def route(address):
    """{"dev", "own", "gateway"}, or None"""
    found = facts.run_json("ip", "-j", "route", "get", address[0].split("%")[0])
    if not found or found[0].get("type") in ("unreachable", "prohibit", "blackhole"):
        return None
    return {"dev": found[0].get("dev"), "own": found[0].get("prefsrc"),
            "gateway": found[0].get("gateway")}


def neighbour(way, host):
    """Its state, if it has an entry"""
    found = facts.run_json("ip", "-j", "neigh", "show", "to", way["gateway"] or host,
                           "dev", way["dev"])
    return found[0]["state"][0] if found and found[0].get("state") else None


def probe(name, seconds):
    """All that can be told about the peer, waiting at most that long for each answer"""
    try:
        family, address = resolve(name)
    except OSError as error:
        return {"name": name, "address": None, "error": str(error)}
    peer = {"name": name, "address": address[0], "ipv4": family == socket.AF_INET,
            "route": route(address)}
    if not peer["route"] or not peer["route"]["own"]:
        return peer
    own = peer["route"]["own"]
    peer["echo"] = echo(family, address, 84, seconds)
    tap = tap_open(peer["route"]["dev"])
    sock, peer["udp"] = udp_send(family, own, address)
    peer["cm"] = cm_probe(family, own, address, seconds)
    # rdma_cm, if there is one, has waited for an answer already
    error, classes = answers(sock, tap, family, address[0],
                             0 if peer["cm"] or peer["udp"] else seconds)
    peer["udp"] = peer["udp"] or error
    peer["tap"] = classes if tap else None
    for one in sock, tap:
        if one:
            one.close()
    peer["neighbour"] = neighbour(peer["route"], address[0])
    peer["mtu"] = largest_mtu(family, address, seconds / 3) if peer["echo"] else None
    return peer
