#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - packets whose bytes a NIC has put into page fragments

fragments.py CASE...: on nsB of netns.sh's two hosts; without a case, lists them.  A tap
device is the NIC: a frame written in pieces is received with a fragment for each of them.
"""

import contextlib
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import (Absent, Lone, Peer, case, counter, done,  # noqa: E402
                  mac_in, raw, roce, run, wait_for)

ACK = roce.OPCODES["RC_ACKNOWLEDGE"]
OWN, OTHER = "10.7.0.2", "10.7.0.1"
MAC = "02:00:00:00:00:01"
TAP, DEV = "tap7", "sr7"
PAGE = 4096
ETH, IP, UDP, BTH, RETH, ICRC = 14, 20, 8, 12, 16, 4
TEXT = bytes(range(256)) * 16
# of the frame of a WRITE of TEXT
START = ETH + IP + UDP + BTH + RETH
END = START + len(TEXT)


@contextlib.contextmanager
def nic():
    with roce.Nic(TAP) as dev:
        run("ip", "link", "set", TAP, "mtu", "4200", "up")
        run("ip", "addr", "add", f"{OWN}/24", "dev", TAP)
        run("ip", "neigh", "replace", OTHER, "lladdr", MAC, "dev", TAP)
        run("rdma", "link", "add", DEV, "type", "srnic", "netdev", TAP)
        yield dev
        run("rdma", "link", "del", DEV)


class Wire(Peer):
    """The peer of a queue pair on that NIC."""

    def __init__(self, lone, dev):  # pylint: disable=super-init-not-called
        self.lone, self.nic, self.src = lone, dev, lone.peer
        self.mac = roce.mac_of(TAP)

    def frame(self, packet):
        return roce.frame(packet, MAC, self.mac)

    def send(self, packets, times=1, vlan=-1, cuts=(ETH,)):
        for packet in (packets if isinstance(packets, list) else [packets]):
            self.nic.send(self.frame(packet), cuts)

    def answer(self, wait=True):
        while True:
            pkt = self.nic.next(wait)
            if pkt is None or self.is_answer(pkt):
                return pkt and pkt[roce.BTH]

    def close(self):
        pass


@contextlib.contextmanager
def ends(**more):
    with nic() as dev, Lone(DEV, OWN, OTHER, **more).up() as lone, \
            Wire(lone, dev) as wire:
        yield lone, wire


def cut_every(size, first, end=END + ICRC):
    """A head of *first* bytes, and fragments of *size*."""
    return range(first, end, size)


def layouts():
    """All bytes of a message, in fragments with difficult boundaries."""
    yield "all in fragments", cut_every(PAGE, ETH)
    yield "three fragments", [ETH, START + 1365, START + 2731]
    for name, at in (("UDP", ETH + IP + 3), ("BTH", ETH + IP + UDP + 5),
                     ("RETH", START - 7), ("the payload", START + 1)):
        yield f"the head ends in {name}", [at, at + 2000]
        yield f"a fragment ends in {name}", [ETH, at, at + 2000]
    for last in range(1, 9):
        yield f"{last} bytes in the last", [ETH, END - last, END]
    for last in range(1, 4):
        yield f"{last} bytes of the ICRC", [ETH, START + 99, END + last]
    yield "small ones", list(range(ETH, ETH + 15)) + [2000]
    yield "the ICRC bytewise", [ETH, *range(END - 9, END + ICRC)]
    random.seed(17)
    for i in range(100):
        cuts = random.sample(range(ETH, END + ICRC), roce.Nic.MAX_FRAGS - 3)
        yield f"random {i}", [ETH, *cuts]


def is_refused(wire, packet, why, cuts):
    before = counter(DEV, why)
    wire.send(packet, cuts=cuts)
    assert wait_for(lambda: counter(DEV, why) > before), why
    assert counter(DEV, why) == before + 1, why
    assert wire.answer(wait=False) is None


def write():
    """A packet is executed however it is fragmented, unless one bit is wrong."""
    with ends() as (lone, wire):
        for psn, (name, cuts) in enumerate(layouts()):
            text = random.randbytes(len(TEXT))
            is_refused(wire, wire.write(psn, text, bad_icrc=True),
                       "rx_icrc_error", cuts)
            wire.send(wire.write(psn, text), cuts=cuts)
            bth = wire.answer()
            assert bth and (bth.opcode, bth.psn) == (ACK, psn), name
            assert lone.read(len(text)) == text, name


def every_bit():
    """The ICRC covers each fragment, and is itself compared as a whole."""
    with ends() as (lone, wire):
        packet = wire.write(0, TEXT)
        cuts = [ETH, ETH + IP + UDP + 3, START + 999, START + 3001, END + 2]
        for at in (IP + UDP + BTH + 9, START - ETH, START - ETH + 998,
                   START - ETH + 999, START - ETH + 3001, END - ETH - 1,
                   END - ETH + 1, END - ETH + 3):
            broken = bytearray(raw(packet))
            broken[at] ^= 4
            is_refused(wire, type(packet)(bytes(broken)), "rx_icrc_error", cuts)
        wire.send(packet, cuts=cuts)
        assert wire.answer().psn == 0
        assert lone.read(len(TEXT)) == TEXT


def lengths():
    """A packet ends where the UDP length says, wherever its fragments end."""
    with ends() as (lone, wire):
        for cuts in ([ETH], [ETH, START + 20], cut_every(64, ETH, 900)):
            for wrong in (0, 7, 8 + 15, 4000):
                is_refused(wire, wire.write(0, b"x" * 64, udp_len=wrong),
                           "rx_malformed", cuts)
        psn = 0
        for size in (8, 64, 300, 4000):
            text = os.urandom(size)
            good = wire.write(psn, text)
            end = ETH + len(good)
            for cuts in ([ETH], [ETH, end], [ETH, end - 2, end + 40], [ETH, end + 3]):
                wire.send(wire.write(psn, text, udp_len=good[roce.UDP].len,
                                     trailer=bytes(100)), cuts=cuts)
                assert wire.answer().psn == psn, (size, cuts)
                assert lone.read(size) == text, (size, cuts)
                psn += 1
                good = wire.write(psn, text)


def atomic_write():
    """A word is stored at once, even if its bytes are in several fragments."""
    with ends() as (lone, wire):
        for psn, cuts in enumerate(([ETH], [ETH, START + 3],
                                    [ETH, START - 3, START + 3, START + 7])):
            word = os.urandom(8)
            reth = roce.RETH(va=lone.addr, rkey=lone.rkey, dmalen=8)
            good = wire.packet("RC_ATOMIC_WRITE", psn, reth, payload=word)
            wire.send(wire.packet("RC_ATOMIC_WRITE", psn, reth, payload=word,
                                  udp_len=good[roce.UDP].len,
                                  trailer=bytes(200)), cuts=cuts)
            assert wire.answer().psn == psn, cuts
            assert lone.read(8) == word, cuts


def send():
    """A SEND goes to a receive, in order and whole."""
    with ends(receives=20) as (lone, wire):
        for psn, cuts in enumerate(([ETH], [ETH, 999, 3333], [ETH, END - 20],
                                    cut_every(300, ETH))):
            text = os.urandom(4096)
            wire.send(wire.packet("RC_SEND_ONLY", psn, payload=text, ackreq=1),
                      cuts=cuts)
            assert wire.answer().psn == psn, cuts
            assert [wc.byte_len for wc in lone.completions(wait=True)] == [4096]
            assert lone.read(4096) == text, cuts


def response(wire, name, psn, text):
    headers = [] if name == "MIDDLE" else [roce.AETH(syndrome=0x1f)]
    return wire.packet(f"RC_RDMA_READ_RESPONSE_{name}", psn, *headers,
                       payload=text[psn * 4096:(psn + 1) * 4096])


def read():
    """Responses, in order and out of order"""
    with ends() as (lone, wire):
        text = os.urandom(4096 * 3)
        lone.post_read(len(text))
        assert wire.answer().opcode == roce.OPCODES["RC_RDMA_READ_REQUEST"]
        wire.send([response(wire, "LAST", 2, text),
                   response(wire, "MIDDLE", 1, text)], cuts=[ETH, 61, 2222])
        assert wait_for(lambda: lone.info()["early"] == "2"), lone.info()
        wire.send(response(wire, "FIRST", 0, text), cuts=[ETH, 77, END - 30])
        assert lone.completions(wait=True)[0].status == 0
        assert lone.read(len(text)) == text


def datagram():
    """The Q_Key may be in any fragment; a packet without one is no datagram."""
    with ends(kind="UD") as (lone, wire):
        deth = roce.DETH(qkey=lone.qkey, sqpn=5)
        at = ETH + IP + UDP + BTH
        for cuts in ([ETH], [ETH, at], [ETH, at + 2], [ETH, at + 9, 3000]):
            text = os.urandom(4096)
            wire.send(wire.packet("UD_SEND_ONLY", 0, deth, payload=text),
                      cuts=cuts)
            assert [wc.byte_len for wc in lone.completions(wait=True)] == [4096 + 40]
            assert lone.read(4096, 40) == text, cuts
        for opcode in ("RC_RDMA_WRITE_MIDDLE", 0x3f):
            is_refused(wire, wire.packet(opcode, 0, payload=bytes(4096)),
                       "rx_malformed", [ETH, at])


def absent():
    """
    While a page is fetched, a packet that waits takes its own memory only; when the page
    arrives, all packets are executed.
    """
    memory = Absent(1 << 16)
    with ends(addr=memory.addr, odp=True, receives=0) as (lone, wire):
        text = [os.urandom(4096) for _ in range(2)]
        # from one page to the next, in the middle of a fragment
        wire.send(wire.write(0, text[0], 1000), cuts=[ETH, START + 1000])
        assert memory.wanted()
        wire.send(wire.write(1, text[1], 9000), cuts=[ETH, START + 1000])
        assert wait_for(lambda: int(lone.info()["rx_bytes"]) > 2 * 4096)
        held = int(lone.info()["rx_bytes"])
        memory.come()
        while wire.answer().psn != 1:
            pass
        assert lone.read(4096, 1000) == text[0]
        assert lone.read(4096, 9000) == text[1]
        assert held < 2 * (2 * 4096), f"{held} bytes for two packets"


def watched():
    """A packet that is shared with a packet socket is not modified."""
    with ends() as (lone, wire), roce.Capture(TAP, lambda pkt: True) as capture:
        for psn, cuts in enumerate(([ETH], [ETH, START - 9, 999], [ETH + IP + 2])):
            packet = wire.write(psn, TEXT)
            wire.send(packet, cuts=cuts)
            assert wire.answer().psn == psn
            seen = [bytes(pkt) for pkt in capture.all() if pkt.dst == wire.mac]
            assert seen == [wire.frame(packet)], cuts
        assert lone.read(len(TEXT)) == TEXT


def reassembled():
    """A packet reassembled from IP fragments is one packet, not a GSO chain."""
    with ends() as (lone, wire):
        before = counter(DEV, "rx_super_skb")
        for psn, size in enumerate((1400, 800, 48)):
            if size == 48:
                text = TEXT[:200]
            else:
                text = os.urandom(4096)
            wire.send(roce.fragments(wire.write(psn, text, df=False), size),
                      cuts=[ETH, ETH + IP + 21])
            bth = wire.answer()
            assert bth and bth.psn == psn, size
            assert lone.read(len(text)) == text, size
        assert counter(DEV, "rx_super_skb") == before


def chain():
    """
    GRO builds a list of packets with fragments if they have UDP checksums.  A packet socket
    puts data beyond a page into fragments; netem sends several packets at once.
    """
    with Lone("sr1", "10.9.0.2", "10.9.0.1").up() as lone, \
            Peer(lone, "nsA", "veth0", mac_in("veth1")) as peer:
        psn = 0
        for _ in range(20):
            before = counter("sr1", "rx_super_skb")
            texts = [os.urandom(4096) for _ in range(4)]
            peer.send([peer.write(psn + i, text, i * 4096, checksum=True,
                                  ip_id=psn + i + 1)
                       for i, text in enumerate(texts)])
            assert wait_for(lambda last=psn + 4:
                            lone.info()["expected_psn"] == str(last))
            assert lone.read(4 * 4096) == b"".join(texts)
            if counter("sr1", "rx_super_skb") > before:
                return
            psn += 4
        assert False, "no list was taken as a whole"


CASES = {
    "write": write, "every_bit": every_bit, "lengths": lengths,
    "atomic_write": atomic_write, "send": send, "read": read,
    "datagram": datagram, "absent": absent, "watched": watched,
    "reassembled": reassembled, "chain": chain,
}

for which in sys.argv[1:]:
    case(which, CASES[which])
done()
