#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - which packets may address a queue pair, case by case

border.py CASE...: on nsB of netns.sh's two hosts; without a case, lists them
"""

import collections
import contextlib
import os
import pathlib
import socket
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import (Absent, Lone, Peer, Context, SGE, RecvWR,  # noqa: E402
                  case, counter, done, gid_of, setting, mac_in, netns, roce,
                  run, wait_for)
from pyverbs.cm_enums import RAI_PASSIVE, RDMA_PS_UDP  # noqa: E402
from pyverbs.cmid import (AddrInfo, CMEvent, CMEventChannel,  # noqa: E402
                          CMID)
from pyverbs.cq import CQ  # noqa: E402
from pyverbs.enums import (IBV_QP_AV, IBV_QP_STATE, IBV_QPS_ERR,  # noqa: E402
                           IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPT_UD, IBV_WQS_RDY)
from pyverbs.qp import QPCap, QPInitAttr  # noqa: E402
from pyverbs.wq import WQ, WQAttr, WQInitAttr  # noqa: E402
from scapy.utils import checksum  # noqa: E402

ACK = roce.OPCODES["RC_ACKNOWLEDGE"]
ADDRESSES = {4: ("10.9.0.2", "10.9.0.1", "10.9.0.77"),
             6: ("fd09::2", "fd09::1", "fd09::77")}
# the host's and the peer's, each on two devices of the host
SHARED = {4: ("10.8.0.2", "10.8.0.1"), 6: ("fd08::2", "fd08::1")}
OF_VRF = {4: "10.8.1.2", 6: "fd08:1::2"}
GROUP = "239.1.2.3", "01:00:5e:01:02:03"
CM_QKEY = 0x01234567
MCAST_QPN = 0xffffff
WQ_ATTR_STATE = 1
SOL_PACKET, PACKET_VNET_HDR = 263, 15
UDP_NO_CHECK6_RX = 102


def peer_of(lone, **more):
    return Peer(lone, "nsA", "veth0", mac_in("veth1"), **more)


def executes(lone, peer, psn, **more):
    """A WRITE is acknowledged, and its data has arrived."""
    text = os.urandom(64)
    peer.send(peer.write(psn, text, **more))
    bth = peer.answer()
    assert bth is not None, "no answer"
    assert (bth.opcode, bth.psn) == (ACK, psn), bth.show(dump=True)
    assert lone.read(64) == text


def ignores(lone, peer, name, packets, times=1):
    """The packets are counted as *name*, and have no other effect."""
    before = counter("sr1", name)
    want = before + times * (len(packets) if isinstance(packets, list) else 1)
    done_before = counter("sr1", "rcvd_pkts")
    peer.send(packets, times)
    assert wait_for(lambda: counter("sr1", name) >= want), \
        f"{name} is {counter('sr1', name)}, not {want}"
    assert not lone.completions()
    assert not peer.answer(wait=False)
    assert counter("sr1", "rcvd_pkts") == done_before


def connected(version):
    own, other, stranger = ADDRESSES[version]
    with Lone("sr1", own, other) as lone:
        with peer_of(lone) as peer:
            lone.to_init()
            ignores(lone, peer, "rx_bad_state", peer.write(0, b"x" * 64))
            lone.to_rtr().to_rts()
            executes(lone, peer, 0)
            ignores(lone, peer, "rx_bad_addr",
                    peer.write(1, b"x" * 64, src=stranger), 3)
            ignores(lone, peer, "rx_icrc_error",
                    peer.write(1, b"x" * 64, bad_icrc=True), 3)
            # the address is checked before the ICRC
            ignores(lone, peer, "rx_bad_addr",
                    peer.write(1, b"x" * 64, src=stranger, bad_icrc=True), 3)
            executes(lone, peer, 1)
            lone.modify(IBV_QP_STATE, qp_state=IBV_QPS_ERR)
            lone.completions(wait=True)
            ignores(lone, peer, "rx_bad_state", peer.write(2, b"x" * 64))


def link_add():
    run("rdma", "link", "add", "sr1", "type", os.environ.get("TYPE", "srnic"),
        "netdev", "veth1")


@contextlib.contextmanager
def port_of_another(version):
    """A socket bound to the RoCE port"""
    run("rdma", "link", "del", "sr1")
    with socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6,
                       socket.SOCK_DGRAM) as owner:
        if version == 6:
            owner.setsockopt(socket.IPPROTO_UDP, UDP_NO_CHECK6_RX, 1)
        owner.bind(("", roce.PORT))
        link_add()
        yield owner
        run("rdma", "link", "del", "sr1")
    link_add()


def foreign(version):
    """
    Packets for no queue pair of srnic are passed to the owner of the port, whose queue pairs
    may have that number.
    """
    own, other, stranger = ADDRESSES[version]
    text = os.urandom(64)
    with port_of_another(version) as owner:
        with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
            executes(lone, peer, 0)
            peer.send(peer.write(1, text, src=stranger))
            assert roce.readable(owner) and text in owner.recv(4096)
            executes(lone, peer, 1)


def lengths():
    own, other, _ = ADDRESSES[4]
    with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
        for wrong in (0, 7, 8 + 15, 4000):
            ignores(lone, peer, "rx_malformed",
                    peer.write(0, b"x" * 64, udp_len=wrong))
        executes(lone, peer, 0)
        # bytes after the UDP datagram are padding
        good = peer.write(1, b"y" * 64)
        executes(lone, peer, 1, udp_len=good[roce.UDP].len, trailer=bytes(900))


def with_options(packet):
    """
    The packet with 40 bytes of IPv4 options, or an IPv6 extension header, and the ICRC
    that a receiver computes which takes these bytes for UDP and BTH.
    """
    data = bytearray(roce.raw(packet))
    if packet.version == 4:
        size, more = 20, b"\1" * 40
        data[0] += len(more) // 4
        data[2:4] = struct.pack("!H", len(data) + len(more))
        data[10:12] = bytes(2)
        head = bytes(data[:size]) + more
        data[10:12] = struct.pack("!H", checksum(head))
        data[size:size] = more
        ones = [1, 8, 10, 11]
    else:
        size, more = 40, bytes([socket.IPPROTO_UDP, 0, 1, 4, 0, 0, 0, 0])
        data[4:6] = struct.pack("!H", len(data) + len(more) - size)
        data[6] = socket.IPPROTO_DSTOPTS
        data[size:size] = more
        ones = [1, 2, 3, 7]
    udp_len = len(data) - len(more) - size
    seen = bytearray(data[:size + 20])
    for i in ones + [size + 6, size + 7, size + 12]:
        seen[i] = 0xff
    if packet.version == 4:
        struct.pack_into("!H", seen, 2, size + udp_len)
    else:
        seen[0] |= 0x0f
        struct.pack_into("!H", seen, 4, udp_len)
    struct.pack_into("!H", seen, size + 4, udp_len)
    crc = zlib.crc32(bytes(8 * [0xff]) + seen + data[size + len(more) + 20:-4])
    data[-4:] = crc.to_bytes(4, "little")
    return type(packet)(bytes(data))


def options(version):
    """Neither options nor extension headers are part of a RoCEv2 packet."""
    own, other, _ = ADDRESSES[version]
    with Lone("sr1", own, other, kind="UD").up() as lone, peer_of(lone) as peer:
        received = counter("sr1", "rcvd_pkts")
        good = peer.packet("UD_SEND_ONLY", 0, roce.DETH(qkey=lone.qkey, sqpn=5),
                           payload=b"o" * 64)
        peer.send([with_options(good), good])
        assert lone.completions(wait=True)
        assert lone.read(64, 40) == b"o" * 64
        assert counter("sr1", "rcvd_pkts") == received + 1, lone.read(40).hex()


def to_raw(lone, qpn):
    """Packets to that number that could be taken for a frame or a datagram."""
    with peer_of(lone) as peer:
        ghosts = counter("sr1", "rcvd_pkts")
        for opcode in ("UD_SEND_ONLY", "RC_SEND_ONLY"):
            for bad_icrc in (False, True):
                peer.send(peer.packet(opcode, 0, roce.DETH(qkey=lone.qkey),
                                      payload=b"z" * 256, qpn=qpn,
                                      bad_icrc=bad_icrc))
        # an answer shows that the packets before it have been processed
        with Lone("sr1", lone.own, lone.peer).up() as last, \
                peer_of(last) as other:
            executes(last, other, 0)
        assert not lone.completions(), "a packet became a frame"
        assert counter("sr1", "rcvd_pkts") == ghosts + 1


def raw_qp():
    own, other, _ = ADDRESSES[4]
    with Lone("sr1", own, other, kind="RAW").up() as lone:
        to_raw(lone, lone.qpn)


def work_queue():
    own, other, _ = ADDRESSES[4]
    # the work queue uses the completion queue and the memory of the QP
    with Lone("sr1", own, other, receives=0) as lone:
        wq = WQ(lone.ctx, WQInitAttr(wq_context=None, wq_pd=lone.pd,
                                     wq_cq=lone.cq, max_wr=8, max_sge=1))
        wq.modify(WQAttr(attr_mask=WQ_ATTR_STATE, wq_state=IBV_WQS_RDY))
        wq.post_recv(RecvWR(num_sge=1,
                            sg=[SGE(lone.addr, 4096, lone.mr.lkey)]))
        to_raw(lone, wq.wqn)
        wq.close()


@contextlib.contextmanager
def user(uid):
    """Devices are opened as user *uid*."""
    os.setresuid(uid, 0, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def crowd(version):
    """While a queue pair waits for memory, invalid packets use no memory of its peer's."""
    own, other, stranger = ADDRESSES[version]
    memory = Absent(1 << 16)
    with Lone("sr1", own, other, addr=memory.addr, odp=True, receives=0).up() \
            as lone, peer_of(lone) as peer:
        dropped = counter("sr1", "rx_drop_nobuf")
        peer.send(peer.write(0, b"a" * 64))
        assert memory.wanted()
        junk = b"j" * 4096
        peer.send([peer.write(1, junk, src=stranger),
                   peer.write(1, junk, bad_icrc=True)], 1000)
        peer.send(peer.write(1, b"b" * 64, 64))
        seen = counter("sr1", "rx_drop_nobuf")
        memory.come()
        while True:
            bth = peer.answer()
            assert bth is not None, "the peer's packet was lost"
            if bth.psn == 1:
                break
        assert lone.read(128) == b"a" * 64 + b"b" * 64
        assert seen == dropped, f"{seen - dropped} packets were dropped"


def unkeyed():
    """Datagrams with a wrong Q_Key use no memory of others."""
    own, other, _ = ADDRESSES[4]
    memory = Absent(1 << 16)
    with Lone("sr1", own, other, kind="UD", addr=memory.addr, odp=True).up() \
            as lone, peer_of(lone) as peer:

        def datagram(key):
            return peer.packet("UD_SEND_ONLY", 0, roce.DETH(qkey=key),
                               payload=b"d" * 2048)

        dropped = counter("sr1", "rx_drop_nobuf")
        peer.send(datagram(lone.qkey))
        assert memory.wanted()
        ignores(lone, peer, "rx_bad_qkey", datagram(lone.qkey + 1), 3000)
        peer.send(datagram(lone.qkey))
        memory.come()
        done = []
        assert wait_for(lambda: done.extend(lone.completions()) or
                        len(done) >= 2), "a datagram was lost"
        assert [wc.status for wc in done] == [0, 0]
        assert counter("sr1", "rx_drop_nobuf") == dropped


class Hoard:
    """A queue pair that waits for its memory, with packets in its backlog."""

    def __init__(self, dqpn):
        own, other, _ = ADDRESSES[4]
        self.memory = Absent(1 << 16)
        self.lone = Lone("sr1", own, other, dqpn=dqpn, addr=self.memory.addr,
                         odp=True, receives=0).up()
        self.peer = peer_of(self.lone)
        self.send(1)
        assert self.memory.wanted()

    def send(self, packets):
        self.peer.send([self.peer.write(psn, bytes([psn]) * 4096,
                                        psn % 16 * 4096)
                        for psn in range(packets)])

    def size(self):
        return int(self.lone.info()["rx_bytes"])

    def close(self):
        self.peer.close()
        self.lone.close()
        self.memory.close()


def hoards():
    """
    The backlogs of all queue pairs of a user are bounded, and so are those of the
    device, to three quarters of the limits; excess packets are dropped, and all memory
    is released in the end.
    """
    for _ in range(2):
        with setting("sr1", "rx_kbytes", 1024):
            with user(65534):
                third = Hoard(3)
            one = third.size()
            hoard(Hoard(1), Hoard(2), third, one)


def hoard(first, second, third, one):
    """*one* is the size of a packet."""

    def waits(*hoards):
        return sum(h.size() for h in hoards)

    def all_here(sent, *hoards):
        """Each of the *sent* packets is in a backlog or was dropped."""
        return wait_for(lambda: sent == waits(*hoards) // one - before +
                        counter("sr1", "rx_drop_nobuf") - dropped)

    before = waits(first, second) // one
    dropped = counter("sr1", "rx_drop_nobuf")
    first.send(30)
    second.send(30)
    assert all_here(60, first, second)
    assert 0 <= (192 << 10) - waits(first, second) < one

    # another user has its own share
    before = waits(third) // one
    dropped = counter("sr1", "rx_drop_nobuf")
    third.send(10)
    assert all_here(10, third)
    assert counter("sr1", "rx_drop_nobuf") == dropped

    # the limit of the device
    before = waits(first, second, third) // one
    dropped = counter("sr1", "rx_drop_nobuf")
    with setting("sr1", "user_share", 100):
        first.send(120)
        assert all_here(120, first, second, third)
        assert 0 <= (768 << 10) - waits(first, second, third) < one

    second.close()  # frees its backlog
    first.memory.come()
    assert wait_for(lambda: waits(first) == 0), waits(first)

    def delivered():
        first.send(120)
        return first.lone.info()["expected_psn"] == "120"

    assert wait_for(delivered), first.lone.info()
    assert first.lone.read(1, 7 * 4096) == bytes([119])
    first.close()
    third.close()


def nft_counter(name):
    words = run("nft", "list", "counter", "ip", "m", name).split()
    return int(words[words.index("packets") + 1])


def tracked():
    """Packets in a backlog hold no expired conntrack flow."""
    sysctl = pathlib.Path("/proc/sys/net/netfilter")
    run("nft", "add table ip m; add counter ip m seen; add chain ip m in { type "
        "filter hook input priority 0; }; add rule ip m in udp dport 4791 ct "
        "state new counter name seen")
    # a flow expires after each packet, so the next one has a new flow
    timeout = sysctl / "nf_conntrack_udp_timeout"
    before = timeout.read_text(encoding="ascii")
    timeout.write_text("0", encoding="ascii")
    own, other, _ = ADDRESSES[4]
    memory = Absent(1 << 16)
    try:
        with Lone("sr1", own, other, addr=memory.addr, odp=True, receives=0) \
                .up() as lone, peer_of(lone) as peer:
            peer.send([peer.write(psn, b"w" * 64) for psn in range(100)])
            assert memory.wanted()
            assert wait_for(lambda: nft_counter("seen") == 100), \
                nft_counter("seen")
            text = (sysctl / "nf_conntrack_count").read_text(encoding="ascii")
            memory.come()
            while peer.answer().psn != 99:
                pass
            assert int(text) < 50, f"{text.strip()} flows are held"
    finally:
        timeout.write_text(before, encoding="ascii")
        run("nft", "delete", "table", "ip", "m")


class Way(collections.namedtuple("Way", "dev wire vlan")):
    """
    The way by which packets arrive: on *dev*, from *wire* of nsA and in *vlan*.  Without a
    wire this host sends them, in the VRF *dev*.
    """

    def peer(self, lone, **more):
        if self.wire is None:
            return Insider(lone, self.dev)
        more.setdefault("mac", mac_in(self.dev))
        return Peer(lone, "nsA", self.wire, vlan=self.vlan, **more)


class Insider(Peer):
    """A process of this host, in the VRF *vrf*, that sends with the peer's address."""

    def __init__(self, lone, vrf):
        super().__init__(lone, "nsA", "veth0", mac_in("veth1"))
        self.vrf = vrf

    def send(self, packets, times=1, vlan=-1):
        roce.send([packets] * times, self.vrf)


SEVEN = Way("veth1.7", "veth0", 7)
EIGHT = Way("veth1.8", "veth0", 8)
NINE = Way("veth1.9", "veth0", 9)
THIRD = Way("veth3", "veth2", None)
BOND = Way("bond7", "veth0", None)
UPPER = Way("upper", "veth0", None)
IN_RED = Way("red", None, None)
IN_BLUE = Way("blue", None, None)


def by_device(version, good, bad, own=None, ndev=None):
    """
    Packets that arrive at *own*, an address of *ndev*, are accepted as the peer's if they
    come by a *good* way, and dropped if they come by a *bad* one, with the same addresses.
    """
    shared, other = SHARED[version]
    own = own or shared
    ndev = ndev or good[0].dev
    index = wait_for(lambda: gid_on("sr1", own, ndev))
    assert index, f"{own} of {ndev} has no GID"
    with Lone("sr1", own, other, gid_index=index).up() as lone:
        for psn, way in enumerate((*good, good[0])):
            with way.peer(lone) as peer:
                executes(lone, peer, psn)
            for way in bad:
                with way.peer(lone) as peer:
                    ignores(lone, peer, "rx_bad_addr",
                            peer.write(psn + 1, b"x" * 64), 3)


def datagrams(version, good, bad):
    """Datagrams must arrive on the queue pair's device, or on an upper device of it."""
    own, other = SHARED[version]
    with Lone("sr1", own, other, kind="UD").up() as lone:
        for ways in (good, bad, good):
            for way in ways:
                with way.peer(lone) as peer:
                    packet = peer.packet("UD_SEND_ONLY", 0,
                                         roce.DETH(qkey=lone.qkey),
                                         payload=b"d" * 64)
                    if ways is bad:
                        ignores(lone, peer, "rx_bad_addr", packet, 3)
                        continue
                    peer.send(packet)
                    done = lone.completions(wait=True)
                    assert [wc.status for wc in done] == [0], way


def gid_on(dev, address, ndev):
    """Index of the GID *address* that belongs to the netdev *ndev*."""
    want = gid_of(address)
    with Context(name=dev) as ctx:
        for i in range(ctx.query_port(1).gid_tbl_len):
            base = f"/sys/class/infiniband/{dev}/ports/1/gid_attrs"
            try:
                with open(f"{base}/ndevs/{i}", encoding="ascii") as file:
                    on = file.read().strip()
                with open(f"{base}/types/{i}", encoding="ascii") as file:
                    kind = file.read()
            except OSError:
                continue
            if on == ndev and "v2" in kind and ctx.query_gid(1, i).gid == want:
                return i
    return None


class Member:
    """A datagram queue pair of sr1 that has joined *group*, as rdma_cm does it."""

    def __init__(self, own, peer, group):
        self.own, self.peer, self.dqpn, self.qpn = own, peer, 0, MCAST_QPN
        self.channel = CMEventChannel()
        self.id = CMID(creator=self.channel, port_space=RDMA_PS_UDP)
        self.id.bind_addr(AddrInfo(src=own, port_space=RDMA_PS_UDP,
                                   flags=RAI_PASSIVE))
        self.cq = CQ(self.id.context, 64)
        self.id.create_qp(QPInitAttr(
            qp_type=IBV_QPT_UD, scq=self.cq, rcq=self.cq,
            cap=QPCap(max_send_wr=1, max_recv_wr=8, max_send_sge=1,
                      max_recv_sge=1)))
        self.mr = self.id.reg_msgs(256)
        for _ in range(8):
            self.id.post_recv(self.mr)
        self.group = AddrInfo(src=group, port_space=RDMA_PS_UDP,
                              flags=RAI_PASSIVE)
        self.id.join_multicast(self.group)
        event = CMEvent(self.channel)
        joined = event.event_str()
        event.ack_cm_event()
        assert joined == "RDMA_CM_EVENT_MULTICAST_JOIN", joined

    def took(self, wait=True):
        """Number of datagrams that have arrived, after the first if *wait*."""
        def come():
            return self.cq.poll(8)[0]

        return wait_for(come) if wait else come()

    def last(self):
        """The last datagram, without its GRH."""
        return self.mr.read(64, 40)

    def close(self):
        self.id.leave_multicast(self.group)
        for thing in (self.mr, self.id, self.cq, self.channel):
            thing.close()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


@contextlib.contextmanager
def host_in(group, *devs):
    """The host joins the group on all these devices."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for dev in devs:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                            socket.inet_aton(group) +
                            struct.pack("=4xi", socket.if_nametoindex(dev)))
        yield


@contextlib.contextmanager
def seen_packets():
    """A function that returns how many RoCE packets the host's firewall has seen."""
    run("nft", "add table ip m; add counter ip m seen; add chain ip m in { "
        "type filter hook input priority 0; }; add rule ip m in udp dport 4791 "
        "counter name seen")
    try:
        yield lambda: nft_counter("seen")
    finally:
        run("nft", "delete", "table", "ip", "m")


def cast(seen, member, way, copies=1):
    """Sends a datagram to the group, of which the host sees *copies*; returns its text."""
    text = os.urandom(64)
    before = seen()
    with way.peer(member, mac=GROUP[1]) as peer:
        peer.send(peer.packet("UD_SEND_ONLY", 0, roce.DETH(qkey=CM_QKEY),
                              dst=GROUP[0], payload=text))
    assert wait_for(lambda: seen() >= before + copies), seen() - before
    return text


def has_come(member, text):
    """The member has received that datagram, and no other."""
    assert member.took() == 1
    assert member.last() == text
    assert not member.took(wait=False)


def multicast(own, good, bad):
    """A group belongs to a device: its members receive no datagrams of other devices."""
    with Member(own, SHARED[4][1], GROUP[0]) as member, seen_packets() as seen, \
            host_in(GROUP[0], good.dev, bad.dev):
        for way in (bad, good):
            text = cast(seen, member, way)
        has_come(member, text)


def seen_twice():
    """A macvlan and its lower device both see a datagram, which is received once."""
    with Member("10.8.2.2", SHARED[4][1], GROUP[0]) as member, \
            seen_packets() as seen:
        for _ in range(2):
            has_come(member, cast(seen, member, UPPER, 2))


def bridged():
    """Members on two ports of a bridge both receive its datagrams."""
    with Member("10.8.2.2", SHARED[4][1], GROUP[0]) as first, \
            Member("10.8.3.2", SHARED[4][1], GROUP[0]) as second, \
            seen_packets() as seen:
        devices = {first.id.context.name, second.id.context.name}
        assert devices == {"sr1", "sr3"}, devices
        for _ in range(2):
            text = cast(seen, first, UPPER)
            has_come(first, text)
            has_come(second, text)


# a response MAD of class PerfMgt without a request
ANSWER = bytes([1, 4, 1, 0x81]) + bytes(252)
GSI_QKEY = 0x80010000


def selves(version):
    """Packets of the host to itself are received by the device that has the address."""
    prefix = {4: "10.8.4.", 6: "fd08:4::"}[version]
    devices = ["sr5", "sr6", "sr7", "sr8"]
    for vrf, number, want in ((None, 1, "sr5"), (None, 2, "sr5"),
                              ("red", 1, "sr6"), ("red", 2, "sr7"),
                              ("blue", 1, "sr8"), ("blue", 2, "sr8")):
        own = prefix + str(number)
        packet = roce.packet(own, own, "UD_SEND_ONLY", 1, 0,
                             roce.DETH(qkey=GSI_QKEY, sqpn=1), payload=ANSWER)
        before = [counter(dev, "rcvd_pkts") for dev in devices]
        roce.send(packet, vrf)
        expected = [n + (dev == want) for dev, n in zip(devices, before)]

        def now():
            return [counter(dev, "rcvd_pkts") for dev in devices]

        assert wait_for(lambda: now() == expected), (vrf, own, now(), expected)


def vnet_socket(dev):
    """A packet socket whose skbs are laid out according to virtio_net_hdr."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((dev, 0))
    sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    return sock


def lists():
    """
    A list built by GRO of packets in pages, shared with a packet socket, whose head
    is modified by the firewall: no packet is corrupted.
    """
    run("ethtool", "-K", "veth1", "gro", "on", "rx-gro-list", "on")
    run("nft", "add table ip m; add chain ip m pre { type filter hook "
        "prerouting priority -150; }; add rule ip m pre ip ttl set 33")
    own, other, _ = ADDRESSES[4]
    try:
        with netns("nsA"):
            run("ethtool", "-K", "veth0", "tso", "off")
            # packets sent within a slot arrive back-to-back
            run("tc", "qdisc", "add", "dev", "veth0", "root", "netem", "slot",
                "200ms", "200ms")
            sock = vnet_socket("veth0")
        with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer, \
                sock, roce.Capture("veth1") as seen:
            before = counter("sr1", "rx_super_skb")
            psn = 0
            for _ in range(20):
                psn = list_of(lone, peer, sock, seen, psn)
                if counter("sr1", "rx_super_skb") > before:
                    return
            assert False, "GRO built no list"
    finally:
        run("nft", "delete", "table", "ip", "m")
        run("ethtool", "-K", "veth1", "gro", "off", "rx-gro-list", "off")
        with netns("nsA"):
            run("tc", "qdisc", "del", "dev", "veth0", "root")
            run("ethtool", "-K", "veth0", "tso", "on")


def list_of(lone, peer, sock, seen, psn):
    """Eight WRITEs; all but the first are in pages.  Returns the next PSN."""
    texts = [os.urandom(4096) for _ in range(8)]
    packets = [peer.write(psn + i, text, 4096 * i, checksum=True,
                          ip_id=psn + i + 1) for i, text in enumerate(texts)]
    frames = [roce.frame(p, peer.frame_src, peer.mac) for p in packets]
    for i, data in enumerate(frames):
        linear = 64 if i else len(data)
        sock.send(struct.pack("=BBHHHH", 0, 0, linear, 0, 0, 0) + data)
    psn += len(texts)
    while True:
        bth = peer.answer()
        assert bth is not None, "no answer"
        assert bth.opcode == ACK, bth.show(dump=True)
        if bth.psn == psn - 1:
            break
    assert lone.read(4096 * 8) == b"".join(texts)
    # in as many pieces as the packet socket received
    heard = b"".join(roce.raw(p) for p in seen.all())
    assert all(roce.raw(p[roce.UDP].payload) in heard for p in packets)
    return psn


def kept(version):
    """Out-of-order requests are kept in memory of their own size."""
    own, other, _ = ADDRESSES[version]
    with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
        texts = [os.urandom(100) for _ in range(100)]
        peer.send([peer.write(psn, texts[psn], 100 * psn)
                   for psn in range(99, 0, -1)])
        assert wait_for(lambda: lone.info()["early"] == "99"), lone.info()
        # the slots, and at most the memory of an skb of 172 bytes each
        assert int(lone.info()["early_bytes"]) < 128 * 16 + 99 * 1024
        peer.send(peer.write(0, texts[0]))
        while peer.answer().psn != 99:
            pass
        assert lone.read(100 * 100) == b"".join(texts)
        assert lone.info()["early"] == "0"


def bulky():
    """A large IP datagram with a small packet in it is not kept as a whole."""
    own, other, _ = ADDRESSES[4]
    with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
        for psn in range(1, 5):
            whole = peer.write(psn, bytes(64), df=False, ip_id=psn,
                               trailer=bytes(60000))
            peer.send(roce.fragments(whole, 4096))
        assert wait_for(lambda: lone.info()["early"] == "4"), lone.info()
        assert int(lone.info()["early_bytes"]) < 128 * 16 + 4 * 1024


def responses():
    """Out-of-order responses are kept in memory of their own size; none in the error state."""
    own, other, _ = ADDRESSES[4]
    with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
        text = os.urandom(4096 * 3)
        lone.post_read(len(text))
        asked = peer.answer()
        assert asked.opcode == roce.OPCODES["RC_RDMA_READ_REQUEST"]

        peer.send([peer.response("LAST", 2, text),
                   peer.response("MIDDLE", 1, text)])
        assert wait_for(lambda: lone.info()["early"] == "2"), lone.info()
        peer.send(peer.response("FIRST", 0, text))
        assert lone.completions(wait=True)[0].status == 0
        assert lone.read(len(text)) == text
        peer.send(peer.write(3, b"x" * 64))
        assert wait_for(lambda: lone.info()["early"] == "1"), lone.info()
        lone.modify(IBV_QP_STATE, qp_state=IBV_QPS_ERR)
        assert wait_for(lambda: lone.info()["early_bytes"] == "0"), lone.info()


@contextlib.contextmanager
def second_address():
    """Adds a second address to the peer."""
    second = ADDRESSES[4][2]
    run("ip", "-n", "nsA", "addr", "add", f"{second}/24", "dev", "veth0")
    try:
        yield second
    finally:
        run("ip", "-n", "nsA", "addr", "del", f"{second}/24", "dev", "veth0")


def move(lone, address):
    """Moves the peer to *address*; no packet is kept."""
    lone.modify(IBV_QP_STATE, qp_state=IBV_QPS_SQD)
    lone.modify(IBV_QP_STATE | IBV_QP_AV, qp_state=IBV_QPS_SQD,
                ah_attr=lone.path(address))
    lone.modify(IBV_QP_STATE, qp_state=IBV_QPS_RTS)
    assert lone.info()["early"] == "0", lone.info()


def moved():
    """Packets kept from one path are not executed after a change of the path."""
    own, other, _ = ADDRESSES[4]
    with second_address() as second, Lone("sr1", own, other).up() as lone:
        lone.mr.write(bytes(256), 256)
        dropped = counter("sr1", "rx_drop_out_of_order")
        kept_from(lone, (1, 2))
        move(lone, second)
        assert counter("sr1", "rx_drop_out_of_order") == dropped + 2
        # the gap is reported on the new path, too
        kept_from(lone, (3,), src=second)
        with peer_of(lone, src=second) as peer:
            executes(lone, peer, 0)
            assert lone.read(192, 64) == bytes(192)
            peer.send([peer.write(psn, b"n" * 64, 64 * psn) for psn in (1, 2)])
            while peer.answer().psn != 3:
                pass
        assert lone.read(192, 64) == b"n" * 128 + b"k" * 64


def moved_read():
    """Kept responses are dropped after a change of the path, and requested again."""
    own, other, _ = ADDRESSES[4]
    # a timeout longer than the script needs to answer
    with second_address() as second, Lone("sr1", own, other).to_init() \
            .to_rtr().to_rts() as lone:
        old, new = os.urandom(4096 * 3), os.urandom(4096 * 3)
        with peer_of(lone) as peer:
            lone.post_read(len(old))
            assert peer.answer() is not None, "no request"
            dropped = counter("sr1", "rx_drop_out_of_order")
            peer.send([peer.response("LAST", 2, old),
                       peer.response("MIDDLE", 1, old)])
            assert wait_for(lambda: lone.info()["early"] == "2"), lone.info()
        with peer_of(lone, src=second) as peer:
            move(lone, second)
            assert counter("sr1", "rx_drop_out_of_order") == dropped + 2
            asked = peer.answer()
            assert asked is not None, "no request"
            # all responses, or the first one if this is a probe
            assert asked.psn == 0 and asked[roce.RETH].dmalen in (4096, len(new))
            peer.send(peer.response("FIRST", 0, new))
            assert wait_for(lambda: lone.read(4096) == new[:4096])
            assert not lone.completions()
            assert old[4096:8192] != lone.read(4096, 4096)
            peer.send([peer.response("MIDDLE", 1, new),
                       peer.response("LAST", 2, new)])
            assert lone.completions(wait=True)[0].status == 0
        assert lone.read(len(new)) == new


def kept_from(lone, psns, **more):
    """Sends WRITEs ahead of the first, whose gap is reported."""
    with peer_of(lone, **more) as peer:
        peer.send([peer.write(psn, b"k" * 64, 64 * psn) for psn in psns])
        bth = peer.answer()
        assert bth is not None, "no NAK"
        assert (bth.opcode, bth.psn) == (ACK, 0), bth.show(dump=True)
    assert lone.info()["early"] == str(len(psns)), lone.info()


def forgotten():
    """Packets kept for a missing packet that does not arrive are dropped in the end."""
    own, other, _ = ADDRESSES[4]
    with Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
        dropped = counter("sr1", "rx_drop_out_of_order")
        peer.send([peer.write(psn, b"old" + bytes(61)) for psn in (2, 3)])
        assert wait_for(lambda: lone.info()["early"] == "2"), lone.info()
        assert wait_for(lambda: lone.info()["early_bytes"] == "0")
        assert counter("sr1", "rx_drop_out_of_order") == dropped + 2
        peer.send(peer.write(0, b"new" + bytes(61)))
        peer.send(peer.write(1, b"new" + bytes(61)))
        while peer.answer().psn != 1:
            pass
        assert lone.read(3) == b"new"
        assert lone.info()["expected_psn"] == "2"


def no_room():
    """A queue pair that may keep no packet is not charged for slots."""
    own, other, _ = ADDRESSES[4]
    with setting("sr1", "user_share", 100), setting("sr1", "rx_kbytes", 6), \
            Lone("sr1", own, other).up() as lone, peer_of(lone) as peer:
        dropped = counter("sr1", "rx_drop_out_of_order")
        peer.send(peer.write(1, bytes(2048)))
        assert wait_for(lambda: counter("sr1", "rx_drop_out_of_order") ==
                        dropped + 1)
        assert lone.info()["early_bytes"] == "0", lone.info()


class Keeper:
    """A queue pair, and WRITEs to it ahead of the first."""

    def __init__(self, dqpn, packets):
        own, other, _ = ADDRESSES[4]
        self.lone = Lone("sr1", own, other, dqpn=dqpn).up()
        self.peer = peer_of(self.lone)
        self.first = self.peer.write(0, bytes(2048))
        self.rest = [self.peer.write(psn + 1, bytes(2048))
                     for psn in range(packets)]

    def size(self):
        return int(self.lone.info()["early_bytes"])

    def close(self):
        self.peer.close()
        self.lone.close()


def budget():
    """
    Packets are kept in half of the memory of a user, and in half of that of the device;
    all of it is released in the end.
    """
    for _ in range(2):
        with setting("sr1", "rx_kbytes", 512):
            with user(65534):
                many = Keeper(1, 100), Keeper(2, 100)
            keep(many, Keeper(3, 8))


def keep(many, few):
    """Packets are sent repeatedly, since kept packets are dropped after a while."""

    def sizes(*keepers):
        for keeper in keepers:
            keeper.peer.send(keeper.rest)
        return sum(keeper.size() for keeper in keepers)

    def fills(limit, *keepers):
        """The queue pairs keep packets up to the limit, within the size of a packet."""
        size = sizes(*keepers)
        assert size <= limit, size
        return size > limit - 8192

    assert wait_for(lambda: fills(64 << 10, *many))

    def another_keeps():
        sizes(*many, few)
        return few.lone.info()["early"] == "8"

    assert wait_for(another_keeps), few.lone.info()
    with setting("sr1", "user_share", 100):
        assert wait_for(lambda: fills(256 << 10, *many, few))

    # dropped packets must be sent again
    many[0].peer.send([many[0].first] + many[0].rest)
    while many[0].peer.answer().psn != 100:
        pass
    for keeper in many + (few,):
        keeper.close()


CASES = {
    "connected4": lambda: connected(4), "connected6": lambda: connected(6),
    "foreign4": lambda: foreign(4), "foreign6": lambda: foreign(6),
    "lengths": lengths, "raw": raw_qp, "wq": work_queue,
    "crowd4": lambda: crowd(4), "crowd6": lambda: crowd(6),
    "options4": lambda: options(4), "options6": lambda: options(6),
    "unkeyed": unkeyed, "hoards": hoards, "tracked": tracked,
    "lists": lists,
    "kept4": lambda: kept(4), "kept6": lambda: kept(6), "bulky": bulky,
    "responses": responses, "forgotten": forgotten, "moved": moved,
    "moved_read": moved_read, "no_room": no_room, "budget": budget,
    # rdma_cm does not support IPv6 groups
    "vrf_mcast": lambda: multicast(ADDRESSES[4][0], SEVEN, THIRD),
    "macvlan_mcast": seen_twice, "bridge_mcast": bridged,
    "bond_mcast": lambda: multicast("10.8.2.2", BOND, THIRD),
}
for v in (4, 6):
    CASES.update({
        f"selves{v}": lambda v=v: selves(v),
        f"vlans{v}": lambda v=v: by_device(v, [SEVEN], [EIGHT]),
        f"vrfs{v}": lambda v=v: by_device(v, [SEVEN, IN_RED],
                                          [NINE, THIRD, IN_BLUE]),
        # an address of the VRF itself, by any device in that VRF
        f"vrf_address{v}": lambda v=v: by_device(
            v, [SEVEN, NINE, IN_RED], [THIRD, IN_BLUE], OF_VRF[v], "red"),
        f"vrf_ud{v}": lambda v=v: datagrams(v, [SEVEN], [THIRD, IN_BLUE]),
        f"bond{v}": lambda v=v: by_device(v, [BOND], [THIRD]),
        f"bond_ud{v}": lambda v=v: datagrams(v, [BOND], [THIRD]),
    })

for name in sys.argv[1:]:
    case(name, CASES[name])
done()
