#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - packets of two IPsec states in one list of GRO

ipsec_gro.py CASE...: on nsB; the mark of packets of nsA selects the state.  Only the
first state satisfies the policy.  The case "container" is for nsC, to which nsB forwards
packets that it has decapsulated from the first tunnel.
"""

import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import (Absent, Lone, Peer, case, counter, done, mac_in,  # noqa: E402
                  netns, poll, raw, run, wait_for)

OTHER = "10.9.0.1"
HERE = "sr1", "10.9.0.2"
CONTAINER = "sr2", "10.7.0.2"
GOOD, BAD = b"g" * 64, b"b" * 64


def sender(mark):
    with netns("nsA"):
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                             socket.IPPROTO_RAW)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    return sock


class Host:
    """
    nsA, the two tunnels from it to *end*, a device and its address, and a queue pair
    there that shows which packets have arrived.
    """

    def __init__(self, end=HERE):
        self.ways = {mark: sender(mark) for mark in (1, 2)}
        self.last = Lone(*end, OTHER, dqpn=2).up()
        self.last_psn = 0

    def write(self, lone, *writes):
        """WRITEs, each (PSN, text, mark): built first, so that they leave back-to-back."""
        # no frames: the stack of nsA routes the packets
        with Peer(lone, "nsA", "veth0", None) as peer:
            packets = [(mark, raw(peer.write(psn, text, psn % 16 * 64,
                                             checksum=True, ip_id=psn + 1)))
                       for psn, text, mark in writes]
        for mark, packet in packets:
            self.ways[mark].sendto(packet, (lone.own, 0))

    def settle(self):
        """
        Waits until all earlier packets have been received, by sending another one, which may
        be refused with them if it is in the same list.
        """
        psn = self.last_psn
        self.last_psn += 1

        def arrived():
            self.write(self.last, (psn, GOOD, 1))
            return poll(lambda: expected(self.last) == self.last_psn, 0.5)

        assert wait_for(arrived)

    def close(self):
        self.last.close()
        for sock in self.ways.values():
            sock.close()


def expected(lone):
    return int(lone.info()["expected_psn"])


def rounds(step, end=HERE):
    """Repeats step(host, lone, PSN) until it reports that GRO has built a list."""
    host = Host(end)
    with Lone(*end, OTHER).up() as lone:
        lone.mr.write(bytes(1024), 1024)
        assert any(step(host, lone, expected(lone)) for _ in range(20)), \
            "GRO built no list"
    host.close()


def same(end=HERE):
    """GRO builds lists of packets of one state."""

    def step(host, lone, psn):
        before = counter(lone.dev, "rx_super_skb")
        host.write(lone, *((psn + i, GOOD, 1) for i in range(4)))
        host.settle()
        assert expected(lone) == psn + 4
        return counter(lone.dev, "rx_super_skb") > before

    rounds(step, end)


def container():
    """A list of decapsulated packets is plain text for a host behind the tunnel."""
    same(CONTAINER)


def mac_of(ns, dev):
    with netns(ns):
        return mac_in(dev)


def jumbo():
    """
    A packet that arrived in fragments of ESP is an skb with as many fragments, of which only
    the first has a state.
    """
    with Lone(*HERE, OTHER).up() as lone, \
            Peer(lone, "nsA", "veth8", mac_of("nsA", "veth9")) as peer:
        peer.capture.sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 1)
        text = bytes(range(256)) * 16
        peer.send(peer.write(0, text, df=False))
        assert wait_for(lambda: expected(lone) == 1)
        assert lone.read(len(text)) == text


def other():
    """A packet that violates the policy is not executed, alone or in a list."""

    def step(host, lone, psn):
        host.write(lone, (psn, GOOD, 1), (psn + 1, BAD, 2))
        host.settle()
        now = expected(lone)
        assert now in (psn, psn + 1), "both were executed"
        host.write(lone, (psn, GOOD, 1))  # again, if it was dropped with the other
        host.settle()
        assert expected(lone) == psn + 1
        assert BAD not in lone.read(1024)
        return now == psn

    rounds(step)


def tfms():
    """Number of users of the cipher, one for each state."""
    with open("/proc/crypto", encoding="ascii") as file:
        for entry in file.read().split("\n\n"):
            words = entry.replace(":", " ").split()
            if "rfc4106(gcm(aes))" in words:
                return int(words[words.index("refcnt") + 1])
    return 0


def held():
    """A list in a backlog does not hold the states by which it arrived."""
    host = Host()
    memory = Absent(1 << 16)
    with Lone(*HERE, OTHER, addr=memory.addr, odp=True).up() as lone:
        host.write(lone, (0, GOOD, 1))
        assert memory.wanted()
        before = counter("sr1", "rx_super_skb")
        for psn in range(1, 81, 4):
            host.write(lone, *((psn + i, GOOD, 1) for i in range(4)))
            host.settle()
            if counter("sr1", "rx_super_skb") > before:
                break
        else:
            assert False, "GRO built no list"
        before = tfms()
        run("ip", "xfrm", "state", "flush")
        assert wait_for(lambda: tfms() == before - 2), (before, tfms())
        memory.come()
        assert wait_for(lambda: expected(lone) == psn + 4)
    host.close()


CASES = {"same": same, "other": other, "container": container, "jumbo": jumbo,
         "held": held}

for name in sys.argv[1:]:
    case(name, CASES[name])
done()
