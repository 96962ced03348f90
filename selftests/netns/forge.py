#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - packets that users without capabilities send to the RoCE port

forge.py CASE...: the queue pair that they are for is on sr1 of nsB, where this runs
"""

import contextlib
import errno
import os
import pathlib
import select
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import Lone, case, counter, done, netns, roce, run, wait_for  # noqa: E402

ADDRESSES = {4: ("10.9.0.2", "10.9.0.1"), 6: ("fd09::2", "fd09::1")}
NOBODY = 65534
CONTAINER = {4: ("10.7.0.1", "10.7.0.2"), 6: ("fd07::1", "fd07::2")}
UDP_SEGMENT, IPPROTO_UDPLITE = 103, 136
UDP_ENCAP, UDP_ENCAP_ESPINUDP = 100, 2
MSG_MORE = 0x8000
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, PMTUDISC_DO = 10, 23, 2
NOPS = bytes(4 * [1])
REFUSED = "tx_drop_unprivileged"


@contextlib.contextmanager
def euid(uid):
    """What a process without capabilities does, unless *uid* is 0"""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


def outcome(send, *args):
    """'sent', or the name of the error"""
    try:
        send(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "sent"


def refused():
    with netns("nsA"):
        return counter("sr0", REFUSED)


class Forger:
    """
    A UDP socket of a user on *host* whose packets carry the address of the peer, at the
    latest when they reach nsB
    """

    def __init__(self, lone, host="nsA", own=None, uid=NOBODY):
        self.lone = lone
        self.v6 = ":" in lone.own
        family = socket.AF_INET6 if self.v6 else socket.AF_INET
        with netns(host), euid(uid):
            self.sock = socket.socket(family, socket.SOCK_DGRAM)
            # with DF set, and not connected, it sends identification 0
            if self.v6:
                self.sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_DO)
            else:
                self.sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO)
            self.sock.bind((own or lone.peer, 0))

    def packet(self, text, psn=0):
        return roce.packet(self.lone.peer, self.lone.own, "RC_SEND_ONLY", self.lone.qpn, psn,
                           payload=text, sport=self.sock.getsockname()[1], ip_id=0)

    def datagram(self, text, psn=0):
        """From the BTH on"""
        return roce.raw(self.packet(text, psn))[(40 if self.v6 else 20) + 8:]

    def send(self, text, psn=0):
        self.sock.sendto(self.datagram(text, psn), (self.lone.own, roce.PORT))

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


def receives(lone, text):
    """That SEND and no other"""
    done_now = lone.completions(wait=True)
    assert len(done_now) == 1 and done_now[0].status == 0, done_now
    assert lone.read(len(text)) == text
    assert not lone.completions()


def victim(version):
    return Lone("sr1", *ADDRESSES[version]).up()


def users(version):
    """The opener of the socket decides, whoever uses it."""
    texts = [os.urandom(64) for _ in range(4)]
    before = refused()
    with victim(version) as lone:
        with Forger(lone) as user:
            with euid(NOBODY):
                assert outcome(user.send, texts[0]) == "EPERM"
            assert outcome(user.send, texts[1]) == "EPERM"
        assert refused() == before + 2
        with Forger(lone, uid=0) as root, euid(NOBODY):
            assert outcome(root.send, texts[2]) == "sent"
        receives(lone, texts[2])
        with Forger(lone) as user, netns("nsA"):
            roce.send(user.packet(texts[3], 1))
        receives(lone, texts[3])
        assert refused() == before + 2
        assert lone.info()["expected_psn"] == "2"


def delivered(version):
    """Where there is no link, users can do it."""
    text = os.urandom(64)
    with victim(version) as lone, Forger(lone) as user:
        assert outcome(user.send, text) == "sent"
        receives(lone, text)


def by_connection(user, there):
    user.sock.connect(there)
    user.sock.send(bytes(64))


def in_segments(user, there):
    user.sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 100)
    user.sock.sendto(bytes(1000), there)


def in_pieces(user, there):
    """One datagram, longer than the MTU"""
    level, name = (socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER) if user.v6 else \
        (socket.IPPROTO_IP, IP_MTU_DISCOVER)
    user.sock.setsockopt(level, name, 0)
    user.sock.sendto(bytes(4000), MSG_MORE, there)
    user.sock.sendto(bytes(4000), there)


def with_options(user, there):
    user.sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, NOPS)
    user.sock.sendto(bytes(64), there)


def with_header(user, there):
    """A destination option, which takes a capability to set"""
    with euid(0):
        user.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS,
                             struct.pack("BBBBBBBB", 0, 0, 1, 4, 0, 0, 0, 0))
    user.sock.sendto(bytes(64), there)


def ways(version):
    """Each way to send a datagram is noticed."""
    own = ADDRESSES[version][0]
    kinds = [by_connection, in_segments, in_pieces,
             with_options if version == 4 else with_header]
    with victim(version) as lone:
        for number, kind in enumerate(kinds, refused()):
            with Forger(lone) as user, netns("nsA"), euid(NOBODY):
                assert outcome(kind, user, (own, roce.PORT)) == "EPERM", kind
            assert refused() == number + 1, kind
        assert lone.info()["expected_psn"] == "0"


def vrf():
    """A VRF looks at the packet first; it does not tell the sender."""
    before = refused()
    with netns("nsA"):
        for command in ("link add red type vrf table 10", "link set red up",
                        "link set veth4 master red"):
            run("ip", *command.split())
        with euid(NOBODY), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"veth4")
            assert outcome(sock.sendto, bytes(64), (CONTAINER[4][1], roce.PORT)) == "sent"
        run("ip", "link", "del", "red")
    assert refused() == before + 1


def mapped():
    """IPv4 by an IPv6 socket"""
    before = refused()
    with netns("nsA"), euid(NOBODY), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        assert outcome(sock.sendto, bytes(64), ("::ffff:10.9.0.2", roce.PORT)) == "EPERM"
    assert refused() == before + 1


def others(version):
    """Other ports and protocols are not concerned."""
    before = refused()
    own = ADDRESSES[version][0]
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    with netns("nsA"), euid(NOBODY):
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            assert outcome(sock.sendto, bytes(64), (own, roce.PORT + 1)) == "sent"
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            assert outcome(sock.connect, (own, roce.PORT)) == "ECONNREFUSED"
        with contextlib.suppress(OSError), \
                socket.socket(family, socket.SOCK_DGRAM, IPPROTO_UDPLITE) as sock:
            assert outcome(sock.sendto, bytes(64), (own, roce.PORT)) == "sent"
    assert refused() == before


def sealed(version):
    """
    What IPsec sends for a user is not the user's, even to the RoCE port, which may be that of
    a peer behind NAT.
    """
    here, there = CONTAINER[version]
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    text = os.urandom(64)
    before = refused()
    with netns("nsC"):
        peer = socket.socket(family, socket.SOCK_DGRAM)
        server = socket.socket(family, socket.SOCK_DGRAM)
    peer.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_ESPINUDP)
    peer.bind((there, roce.PORT))
    server.bind((there, 0))
    for ns in "nsA", "nsC":
        run("ip", "-n", ns, "xfrm", "state", "add", "src", here, "dst", there, "proto", "esp",
            "spi", "1", "mode", "transport", "encap", "espinudp", "4500", str(roce.PORT),
            "::" if version == 6 else "0.0.0.0", "aead", "rfc4106(gcm(aes))",
            "0x" + 20 * "1a", "128")
    run("ip", "-n", "nsA", "xfrm", "policy", "add", "dir", "out", "src", here, "dst", there,
        "tmpl", "src", here, "dst", there, "proto", "esp", "mode", "transport")
    with peer, server, netns("nsA"), euid(NOBODY), \
            socket.socket(family, socket.SOCK_DGRAM) as user:
        assert outcome(user.sendto, text, server.getsockname()[:2]) == "sent"
        assert outcome(user.sendto, text, (there, roce.PORT)) == "EPERM"
        assert wait_for(lambda: select.select([server], [], [], 0)[0])
        assert server.recv(128) == text
    assert refused() == before + 1


def counted():
    """Packets that the rule of nsA has dropped"""
    with netns("nsA"):
        words = run("nft", "list", "table", "inet", "roce").split()
    return int(words[words.index("packets") + 1])


def container(passes):
    """The packets of a container leave nsA with its address, unless it drops them."""
    text = os.urandom(64)
    with victim(4) as lone, Forger(lone, "nsC", "10.7.0.2") as user:
        assert outcome(user.send, text) == "sent"
        if passes:
            receives(lone, text)
        else:
            assert wait_for(lambda: counted() == 1)
            assert lone.info()["expected_psn"] == "0"


CASES = {f"{name}{version}": lambda what=what, version=version: what(version)
         for name, what in (("users", users), ("delivered", delivered), ("ways", ways),
                            ("others", others), ("sealed", sealed))
         for version in (4, 6)}
CASES.update({"mapped": mapped, "vrf": vrf, "container": lambda: container(True),
              "container_dropped": lambda: container(False)})

for name in sys.argv[1:]:
    case(name, CASES[name])
done()
