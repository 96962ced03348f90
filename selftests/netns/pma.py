#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - requests of nsA to the performance management agent of nsB

The script sends most of them as packets to QP1, and one through its own QP1.
"""

import fcntl
import ipaddress
import itertools
import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import (Lone, SGE, SendWR, case, done, gid_of, mac_in,  # noqa: E402
                  netns, roce, wait_for)
from pyverbs.enums import (IBV_FLOW_ATTR_ALL_DEFAULT,  # noqa: E402
                           IBV_SEND_SIGNALED, IBV_WR_SEND)
from pyverbs.flow import Flow, FlowAttr  # noqa: E402

OWN, OTHER = "10.9.0.1", "10.9.0.2"
# The RDMA core matches responses to requests by addresses, which it takes for IPv6.
OWN6, OTHER6 = "fd09::1", "fd09::2"
GSI_QKEY = 0x80010000
ASKER = 0x77  # the QP number of a script
PERF_MGMT = 4
GET, SET, GET_RESP = 0x01, 0x02, 0x81
CLASS_PORT_INFO, SAMPLES_CONTROL, COUNTERS, COUNTERS_EXT = 0x01, 0x10, 0x12, 0x1d
BAD_VERSION, BAD_METHOD_ATTR, BAD_VALUE = 0x04, 0x0c, 0x1c
HEADER = struct.Struct(">BBBBHHQHHI")
MAD_BYTES = 256

tids = itertools.count(1)


def question(attr=CLASS_PORT_INFO, method=GET, version=1, modifier=0, port=1):
    """A MAD; the data of counter attributes begins with the port number."""
    head = HEADER.pack(1, PERF_MGMT, version, method, 0, 0, next(tids), attr, 0,
                       modifier)
    select = b"" if attr == CLASS_PORT_INFO else bytes([0, port])
    return (head + bytes(40) + select).ljust(MAD_BYTES, b"\0")


class Answer:
    """The response to the MAD *asked*; .data is that of the attribute."""

    def __init__(self, asked, text):
        header = HEADER.unpack_from(text)
        expected = list(HEADER.unpack_from(asked))
        self.status = header[4]
        expected[3:5] = GET_RESP, self.status
        # a program sets only the lower half of the kernel's transaction ID
        assert header[7] == expected[7] and \
            header[6] & 0xffffffff == expected[6], (header, expected)
        assert header[:6] == tuple(expected[:6]), (header, expected)
        self.data = text[64:]


class Script:
    """Packets to the other host's QP1, and its responses."""

    def __init__(self):
        with netns("nsA"):
            self.capture = roce.Capture("veth0", self.is_answer)

    @staticmethod
    def is_answer(pkt):
        return roce.is_roce(pkt) and roce.ip_of(pkt).dst == OWN and \
            pkt[roce.BTH].dqpn == ASKER

    @staticmethod
    def send(mad, **more):
        with netns("nsA"):
            roce.send(roce.packet(OWN, OTHER, "UD_SEND_ONLY", 1, 0,
                                  roce.DETH(qkey=GSI_QKEY, sqpn=ASKER),
                                  payload=mad, **more))

    def ask(self, **fields):
        mad = question(**fields)
        self.send(mad)
        pkt = self.capture.next()
        assert pkt is not None, "no answer"
        text = roce.raw(pkt[roce.UDP].payload)[12 + 8:]
        return Answer(mad, text[:MAD_BYTES])


class Program:
    """Sends MADs by *dev*, according to linux/rdma/ib_user_mad.h."""

    REGISTER_AGENT, ENABLE_PKEY = 0xc01c1b01, 0x1b03

    def __init__(self, dev):
        name = next(path.parent.name for path in
                    pathlib.Path("/sys/class/infiniband_mad").glob("umad*/ibdev")
                    if path.read_text(encoding="ascii").strip() == dev)
        self.fd = os.open(f"/dev/infiniband/{name}", os.O_RDWR)
        fcntl.ioctl(self.fd, self.ENABLE_PKEY)
        request = bytearray(struct.pack("=I16xBBB4x", 0, 1, PERF_MGMT, 1) +
                            bytes(1))
        fcntl.ioctl(self.fd, self.REGISTER_AGENT, request)
        self.agent = struct.unpack_from("=I", request)[0]

    def ask(self, address, gid_index, **fields):
        mad = question(**fields)
        gid = ipaddress.ip_address(gid_of(address)).packed
        header = struct.pack("=5I", self.agent, 0, 5000, 3, 0) + \
            struct.pack(">IIH", 1, GSI_QKEY, 0) + \
            struct.pack("=6B", 0, 0, 1, gid_index, 64, 0) + gid + bytes(12)
        os.write(self.fd, header + mad)
        text = os.read(self.fd, len(header) + MAD_BYTES)
        status = struct.unpack_from("=I", text, 4)[0]
        assert status == 0, os.strerror(status)
        return Answer(mad, text[len(header):])


def file_of(name, dev="sr1"):
    """A counter file of the other host, or of this one."""
    path = f"/sys/class/infiniband/{dev}/ports/1/counters/{name}"
    return int(pathlib.Path(path).read_text(encoding="ascii"))


def counts(ask, attr, layout, offset, names):
    """The attribute matches the files, which may grow meanwhile."""
    before = [file_of(name) for name in names]
    answer = ask(attr=attr)
    assert answer.status == 0, answer.status
    assert answer.data[1] == 1, "not the port's"
    values = struct.unpack_from(layout, answer.data, offset)
    for name, least, value in zip(names, before, values):
        assert least <= value <= file_of(name), (name, least, value)


def class_port_info(ask):
    answer = ask()
    assert answer.status == 0, answer.status
    # both class versions, and support for 64-bit counters
    assert answer.data[:4] == bytes([1, 1, 2, 0]), answer.data[:4]


def counters(ask):
    counts(ask, COUNTERS, ">B", 7, ["link_downed"])
    counts(ask, COUNTERS, ">H", 8, ["port_rcv_errors"])
    counts(ask, COUNTERS, ">H", 14, ["port_xmit_discards"])
    # the data counters in these files have 64 bits
    counts(ask, COUNTERS, ">4I", 24,
           ["port_xmit_data", "port_rcv_data", "port_xmit_packets",
            "port_rcv_packets"])


def extended(ask):
    counts(ask, COUNTERS_EXT, ">8Q", 8,
           ["port_xmit_data", "port_rcv_data", "port_xmit_packets",
            "port_rcv_packets", "unicast_xmit_packets", "unicast_rcv_packets",
            "multicast_xmit_packets", "multicast_rcv_packets"])


def refused(status, fields):
    answer = script.ask(**fields)
    assert answer.status == status, answer.status
    assert answer.data == bytes(len(answer.data))


def silent():
    """Neither responses nor damaged packets are answered."""
    script.send(question(method=GET_RESP))
    script.send(question(), bad_icrc=True)
    class_port_info(script.ask)


def gid_index(dev, address):
    base = pathlib.Path(f"/sys/class/infiniband/{dev}/ports/1")
    for path in sorted(base.glob("gid_attrs/types/?")):
        gid = (base / "gids" / path.name).read_text(encoding="ascii").strip()
        try:
            if gid == gid_of(address) and \
                    "v2" in path.read_text(encoding="ascii"):
                return int(path.name)
        except OSError:  # an empty entry
            continue
    raise LookupError(address)


def by_program():
    program = Program("sr0")
    index = gid_index("sr0", OWN6)
    extended(lambda **fields: program.ask(OTHER6, index, **fields))


def send_frame(lone, dst):
    """A frame to *dst* of an Ethernet type for experiments."""
    frame = bytes.fromhex(dst.replace(":", "") + "02" * 6 + "88b5") + bytes(50)
    lone.mr.write(frame, len(frame))
    lone.qp.post_send(SendWR(opcode=IBV_WR_SEND, num_sge=1,
                             sg=[SGE(lone.addr, len(frame), lone.mr.lkey)],
                             send_flags=IBV_SEND_SIGNALED))
    assert [wc.status for wc in lone.completions(wait=True)] == [0]


def frames():
    """Raw packets are counted; broadcasts count as multicasts."""
    with netns("nsB"):
        unicast = mac_in("veth1")
    with Lone("sr0", OWN, OTHER, kind="RAW", receives=0).up() as sender, \
            Lone("sr1", OTHER, OWN, kind="RAW").up() as receiver:
        flow = Flow(receiver.qp, FlowAttr(flow_type=IBV_FLOW_ATTR_ALL_DEFAULT))
        for name, dst in (("multicast", "ff" * 6), ("unicast", unicast)):
            sent = file_of(f"{name}_xmit_packets", "sr0")
            rcvd = file_of(f"{name}_rcv_packets")
            send_frame(sender, dst)
            assert file_of(f"{name}_xmit_packets", "sr0") == sent + 1
            assert wait_for(lambda n=name, r=rcvd:
                            file_of(f"{n}_rcv_packets") > r), name
        flow.close()


REFUSED = {
    "another class version": (BAD_VERSION, {"version": 2}),
    "an unknown attribute": (BAD_METHOD_ATTR, {"attr": SAMPLES_CONTROL}),
    "a change": (BAD_METHOD_ATTR, {"attr": COUNTERS, "method": SET}),
    "another port": (BAD_VALUE, {"attr": COUNTERS, "port": 2}),
    "a modifier": (BAD_VALUE, {"attr": COUNTERS_EXT, "modifier": 1}),
}

script = Script()
case("ClassPortInfo", class_port_info, script.ask)
case("PortCounters", counters, script.ask)
case("PortCountersExtended", extended, script.ask)
for what, (why, how) in REFUSED.items():
    case(what, refused, why, how)
case("responses and damaged packets", silent)
case("a request of a program", by_program)
case("frames", frames)
done()
