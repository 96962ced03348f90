# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""
srnic-doctor - peer: what can be learnt by sending packets to another host

Three probes, none of which needs a program at the other end:

echo   ICMP echo requests, small ones and ones as long as the packets of a path MTU.

udp    A request to the performance management agent that every RDMA device of Linux has
       behind QP1.  It is sent by an ordinary UDP socket, so the host's own firewall
       (EPERM) and "port unreachable" (ECONNREFUSED) show; where there is a link of srnic,
       unprivileged users have EPERM as well.  The answer goes to the local
       RDMA device; only a packet socket can see it.

cm     A connection request by the kernel's rdma_cm, to a service that does not exist: the
       peer's connection manager rejects it.  That takes no privileges.

tap    A packet socket, if permitted.  It sees what arrives before the firewall does.

What arrives is hostile.  An answer counts if it comes from the address of the peer and has a
number of the question, which others than the peer learn only on the path.
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
ETH_P_ALL, PACKET_OUTGOING, SO_ATTACH_FILTER = 3, 4, 26
BPF_LDB, BPF_LDH, BPF_JEQ, BPF_RET = 0x30, 0x28, 0x15, 0x06
BPF, SOCKADDR_LL = struct.Struct("=HBBI"), struct.Struct("=HHi2xB9x")
LIBC = ctypes.CDLL(None, use_errno=True)
BTH, DETH, MAD = struct.Struct(">BBHII"), struct.Struct(">II"), struct.Struct(">BBBBHHQHHI")
UD_SEND_ONLY, GSI_QKEY, MAD_BYTES = 0x64, 0x80010000, 256
GET, SEND, GET_RESP = 0x01, 0x03, 0x81
PERF, CM_CLASS, CLASS_PORT_INFO = 4, 7, 1
REQ, REJ, REP = 0x10, 0x12, 0x13
# Bytes of the headers of IP and UDP that an answer has as expected: lengths, protocol,
# addresses, ports
FIXED = {socket.AF_INET: (0, 2, 3, 9, *range(12, 26)),
         socket.AF_INET6: (*range(4, 7), *range(8, 46))}
# Maximum number of packets read at once, more than fit into the buffer of a socket
AT_ONCE = 4096


def resolve(name):
    """(family, address) of a host name or an address; the network device in one is not encoded
    as a part of a domain name"""
    host = facts.encoded(name) if "%" in name else name
    family, _, _, _, address = socket.getaddrinfo(host, PORT, type=socket.SOCK_DGRAM)[0]
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


def echo_request(family, length):
    """An ICMP message for an IP packet of that length"""
    kind = 8 if family == socket.AF_INET else 128
    body = os.urandom(8) + bytes((length - header_bytes(family) - 16) & ~1)
    packet = struct.pack(">BBHHH", kind, 0, 0, os.getpid() & 0xffff, 1) + body
    return packet[:2] + struct.pack(">H", checksum(packet)) + packet[4:]


def is_reply(family, request, message):
    """Does the ICMP message answer the request?  Some sockets choose the identifier."""
    kind = 0 if family == socket.AF_INET else 129
    return message[:2] == bytes((kind, 0)) and message[6:] == request[6:]


def icmp_of(family, kind, data):
    """The ICMP message, without the IP header that a raw socket of IPv4 receives"""
    if family == socket.AF_INET and kind == socket.SOCK_RAW:
        return data[(data[0] & 15) * 4:] if data else b""
    return data


def echo(family, address, length, seconds):
    """Is an IP packet of that length answered?  None if it could not be sent."""
    sock = echo_socket(family)
    if sock is None:
        return None
    packet = echo_request(family, length)
    with sock:
        if family == socket.AF_INET:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_PROBE)
        else:
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_PROBE)
        end = time.monotonic() + seconds
        try:
            sock.sendto(packet, (address[0], 0, *address[2:]))
            while time.monotonic() < end and \
                    select.select([sock], [], [], max(0, end - time.monotonic()))[0]:
                data, source = sock.recvfrom(65536)
                if source[0].split("%")[0] == address[0] and \
                        is_reply(family, packet, icmp_of(family, sock.type, data)):
                    return True
        except OSError:  # too long for the route, or an ICMP error
            pass
    return False


def packet_bytes(family, mtu):
    """The longest packet of that path MTU: UDP, BTH, RETH with immediate, ICRC"""
    return header_bytes(family) + 8 + 12 + 20 + mtu + 4


def largest_mtu(family, address, seconds):
    """The largest path MTU whose packets arrive; the first of them may be too long here."""
    return next((mtu for mtu in facts.MTUS
                 if echo(family, address, packet_bytes(family, mtu), seconds)), None)


# --- udp ---------------------------------------------------------------------------------


def icrc(family, packet):
    """Of an IP packet up to its ICRC: fields that routers may change count as ones."""
    udp = header_bytes(family)
    changing = (1, 8, 10, 11) if family == socket.AF_INET else (1, 2, 3, 7)
    masked = bytearray(packet)
    for place in (*changing, udp + 6, udp + 7, udp + 8 + 4):
        masked[place] = 0xff
    if family == socket.AF_INET6:
        masked[0] |= 0x0f
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def headers(family, own, other, sport, length):
    """Of IP and UDP, as the kernel writes those of udp_socket(), for the ICRC"""
    length += 8 + 4
    if family == socket.AF_INET:
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 0, socket.IPPROTO_UDP, 0)
    else:
        ip = struct.pack(">IHBB", 0x60000000, length, socket.IPPROTO_UDP, 0)
    return ip + socket.inet_pton(family, own) + socket.inet_pton(family, other) + \
        struct.pack(">HHHH", sport, PORT, length, 0)


def question(transaction):
    """Get(ClassPortInfo) of the performance management class, from QP1 to QP1"""
    mad = MAD.pack(1, PERF, 1, GET, 0, 0, transaction, CLASS_PORT_INFO, 0, 0)
    return (BTH.pack(UD_SEND_ONLY, 0x40, 0xffff, 1, 0) + DETH.pack(GSI_QKEY, 1) +
            mad.ljust(MAD_BYTES, b"\0"))


def udp_socket(family, own, netdev):
    """Its IPv4 packets have identification 0, because it sets DF and is not connected."""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO)
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_DO)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
    scope = socket.if_nametoindex(netdev) if facts.link_local(own) else 0
    sock.bind((own, 0) if family == socket.AF_INET else (own, 0, 0, scope))
    return sock


def error_name(code):
    return errno.errorcode.get(code, f"error {code}")


def udp_send(family, way, address, transaction):
    """(socket, error name or None)"""
    try:
        sock = udp_socket(family, way["own"], way["dev"])
    except OSError as error:
        return None, error_name(error.errno)
    packet = question(transaction)
    try:
        front = headers(family, way["own"], address[0], sock.getsockname()[1], len(packet))
        sock.sendto(packet + icrc(family, front + packet), address)
    except OSError as error:
        return sock, error_name(error.errno)
    return sock, None


def udp_error(sock):
    """What an ICMP message has told the socket since.  Anybody may send it packets."""
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    try:
        sock.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        pass
    except OSError as error:
        code = code or error.errno
    return error_name(code) if code else None


# --- tap ---------------------------------------------------------------------------------


def mad_of(family, packet, source, target):
    """The MAD in a packet between the RoCE ports of these addresses, or None"""
    start = header_bytes(family)
    whole = start + 8 + BTH.size + DETH.size + MAD_BYTES + 4
    if len(packet) < whole:
        return None
    packet = packet[:whole]
    front = headers(family, source, target, *struct.unpack_from(">H", packet, start),
                    whole - start - 8 - 4)
    opcode, _, _, queue_pair, _ = BTH.unpack_from(packet, start + 8)
    if packet[0] >> 4 != front[0] >> 4 or \
            any(packet[place] != front[place] for place in FIXED[family]) or \
            opcode != UD_SEND_ONLY or queue_pair & 0xffffff != 1 or \
            packet[-4:] != icrc(family, packet[:-4]):
        return None
    return packet[-4 - MAD_BYTES:-4]


class Exchange:
    """What is on the wire: requests of this host for the service of Cm, and the peer's answers"""

    def __init__(self, family, own, other, transaction):
        self.family, self.own, self.other = family, own, other
        self.transaction = transaction
        self.requests = set()   # communication IDs
        self.answered = set()

    def look(self, packet, outgoing):
        ends = (self.own, self.other) if outgoing else (self.other, self.own)
        mad = mad_of(self.family, packet, *ends)
        if mad is None:
            return
        _, kind, _, method, _, _, transaction, attribute, _, _ = MAD.unpack_from(mad)
        local, remote, service = struct.unpack_from(">IIQ", mad, MAD.size)
        message = (kind, method, attribute)
        if outgoing:
            if message == (CM_CLASS, SEND, REQ) and service == Cm.PS_TCP << 16 | Cm.SERVICE:
                self.requests.add(local)
        elif message == (PERF, GET_RESP, CLASS_PORT_INFO) and transaction == self.transaction:
            self.answered.add("perf")
        elif message in ((CM_CLASS, SEND, REJ), (CM_CLASS, SEND, REP)) and \
                remote in self.requests:
            self.answered.add("cm")

    def read(self, tap):
        """Look at the packets that have arrived"""
        for _ in range(AT_ONCE):
            received = tap_receive(tap)
            if not received:
                return
            self.look(*received)


def tap_filter(sock, family):
    """Let through only UD packets for QP1; others might fill the buffer of the socket.  A program
    of classic BPF: each test is a load and a jump, the last instruction drops the packet."""
    udp = header_bytes(family)
    tests = ((BPF_LDB, 9 if family == socket.AF_INET else 6, socket.IPPROTO_UDP),
             (BPF_LDH, udp + 2, PORT), (BPF_LDB, udp + 8, UD_SEND_ONLY), (BPF_LDH, udp + 8 + 6, 1))
    program = b""
    for left, (load, place, value) in zip(range(2 * len(tests) - 1, 0, -2), tests):
        program += BPF.pack(load, 0, 0, place) + BPF.pack(BPF_JEQ, 0, left, value)
    program += BPF.pack(BPF_RET, 0, 0, 0xffff) + BPF.pack(BPF_RET, 0, 0, 0)
    room = ctypes.create_string_buffer(program)
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                    struct.pack("HP", len(program) // BPF.size, ctypes.addressof(room)))


# The functions of a socket in Python take and return only UTF-8 as the name of a network device.


def tap_bind(sock, netdev):
    address = SOCKADDR_LL.pack(socket.AF_PACKET, socket.htons(ETH_P_ALL),
                               socket.if_nametoindex(netdev), 0)
    if LIBC.bind(sock.fileno(), address, len(address)):
        raise OSError(ctypes.get_errno(), "bind")


def tap_receive(sock):
    """(packet, whether this host sends it), or None"""
    packet = ctypes.create_string_buffer(2048)
    address = ctypes.create_string_buffer(SOCKADDR_LL.size)
    length = LIBC.recvfrom(sock.fileno(), packet, len(packet), socket.MSG_DONTWAIT, address,
                           ctypes.byref(ctypes.c_uint(len(address))))
    if length < 0:
        return None
    return packet.raw[:length], SOCKADDR_LL.unpack(address)[3] == PACKET_OUTGOING


def tap_open(family, netdev):
    """It receives nothing until it is bound."""
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        tap_filter(tap, family)
        tap_bind(tap, netdev)
    except OSError:
        return None
    return tap


# --- udp and tap -------------------------------------------------------------------------


def answers(sock, tap, exchange, seconds):
    """Error name or None; waits until there is one, or an answer"""
    end = time.monotonic() + seconds
    while True:
        left = max(0, end - time.monotonic())
        ready = select.select([one for one in (sock, tap) if one], [], [], left)[0]
        error = udp_error(sock) if sock in ready else None
        if tap in ready:
            exchange.read(tap)
        if error or exchange.answered or left == 0 or not ready:
            return error


# --- cm ----------------------------------------------------------------------------------


class Cm:
    """One id of rdma_cm, by the commands of linux/rdma/rdma_user_cm.h"""

    CREATE, RESOLVE_ROUTE, CONNECT, GET_EVENT, RESOLVE_ADDR = 0, 4, 6, 12, 21
    PS_TCP, QPT_RC = 0x0106, 2
    SERVICE = 9	# discard: nobody offers that by RDMA
    EVENT_BYTES = 512
    RESOLVED, ROUTED, RESPONSE, UNREACHABLE, REJECTED, ESTABLISHED = 0, 2, 5, 7, 8, 9

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


def scope_of(family, address):
    return address[3] if family == socket.AF_INET6 else 0


def cm_failed(event):
    return errno.errorcode.get(-event[1], "no device")


def cm_outcome(cm, end):
    """answered, silent, or what failed"""
    event = cm.event(end)
    if event is None or event[0] == cm.UNREACHABLE:
        return "silent"
    return "answered" if event[0] in (cm.REJECTED, cm.RESPONSE, cm.ESTABLISHED) else \
        cm_failed(event)


def cm_exchange(cm, family, own, address, end):
    """As cm_outcome()"""
    scope = scope_of(family, address)
    for step, expected in ((lambda: cm.resolve_addr(family, own, address[0], scope), cm.RESOLVED),
                           (cm.resolve_route, cm.ROUTED)):
        step()
        event = cm.event(end)
        if event is None or event[0] != expected:
            return cm_failed(event) if event else "ETIMEDOUT"
    cm.connect()
    return cm_outcome(cm, end)


def cm_open():
    """None if there is no rdma_cm"""
    try:
        return Cm()
    except OSError:
        return None


def cm_try(function, *args):
    try:
        return function(*args)
    except OSError as error:
        return error_name(error.errno)


# --- all of it ---------------------------------------------------------------------------


def route(address, zone):
    """{"dev", "own", "gateway", "local"}, or None"""
    found = facts.run_json("ip", "-j", "route", "get", address, *(("dev", zone) if zone else ()))[0]
    if found.get("type") in ("unreachable", "prohibit", "blackhole"):
        return None
    own, gateway = found.get("prefsrc"), found.get("gateway")
    return {"dev": facts.netdev_name(found["dev"]), "own": own and facts.address(own),
            "gateway": gateway and facts.address(gateway),
            "local": found.get("type") == "local"}


def neighbour(way, host):
    """Its state, if it has an entry"""
    found = facts.run_json("ip", "-j", "neigh", "show", "to", way["gateway"] or host,
                           "dev", way["dev"])
    return str(found[0]["state"][0])


def zone_of(family, address):
    """The network device that is part of a link-local address"""
    scope = scope_of(family, address)
    return socket.if_indextoname(scope) if scope else None


def firewalls(peer, family, address, seconds):
    """What the probes udp, cm and tap say"""
    own, transaction = peer["route"]["own"], int.from_bytes(os.urandom(4), "big")
    exchange = Exchange(family, own, address[0], transaction)
    tap = tap_open(family, peer["route"]["dev"])
    sock, peer["udp"] = udp_send(family, peer["route"], address, transaction)
    cm = cm_open()
    peer["cm"] = cm and cm_try(cm_exchange, cm, family, own, address, time.monotonic() + seconds)
    # rdma_cm, if there is one, has waited for an answer already
    error = answers(sock, tap, exchange, 0 if peer["cm"] or peer["udp"] else seconds)
    peer["udp"] = peer["udp"] or error
    peer["tap"] = sorted(exchange.answered) if tap else None
    if peer["cm"] == "silent" and "cm" in exchange.answered:
        # the answer may have arrived just now
        peer["cm"] = cm_try(cm_outcome, cm, time.monotonic() + seconds)
    for one in sock, tap, cm:
        if one:
            one.close()


def probe(name, seconds):
    """All that can be told about the peer, waiting at most that long for each answer"""
    try:
        family, address = resolve(name)
        zone = zone_of(family, address)
    except (OSError, UnicodeError) as error:
        return {"name": name, "address": None, "error": str(error)}
    peer = {"name": name, "address": address[0], "zone": zone, "ipv4": family == socket.AF_INET,
            "route": facts.known(route, address[0], zone)
            if zone or not facts.link_local(address[0]) else None}
    if not peer["route"] or not peer["route"]["own"]:
        return peer
    peer["echo"] = echo(family, address, 84, seconds)
    firewalls(peer, family, address, seconds)
    peer["neighbour"] = facts.known(neighbour, peer["route"], address[0])
    peer["mtu"] = largest_mtu(family, address, seconds / 3) if peer["echo"] else None
    return peer
