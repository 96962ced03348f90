#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - both ends of a connection of Reliable Datagram Sockets

usage: rds.py sizes      messages of all sizes arrive
       rds.py order      messages of several sockets arrive once and in order
       rds.py write      RDMA to a buffer of the receiver, before the message arrives
       rds.py read       RDMA from a buffer of the receiver
       rds.py no-right   atomics on memory that RDS registers without the right for them
       rds.py flow FILE  messages in both directions, for as long as FILE exists; each that
                         arrives creates FILE.ADDRESS
"""

import ctypes
import hashlib
import mmap
import os
import pathlib
import signal
import socket
import struct
import sys
import threading

A, B = "10.9.0.1", "10.9.0.2"
PORT = 4000
SOL_RDS = 276
CMSG_RDMA_ARGS, CMSG_RDMA_DEST, CMSG_RDMA_MAP, CMSG_RDMA_STATUS = 1, 2, 3, 4
FADD, CSWP, MASKED_FADD, MASKED_CSWP = 6, 7, 8, 9       # control messages, too
RDMA_READWRITE, RDMA_USE_ONCE, RDMA_NOTIFY = 1, 8, 0x20
WINDOW = 64                              # messages of a flow on their way
SIZES = (0, 1, 7, 4095, 4096, 4097, 65537, 1 << 20)
GET_MR_ARGS = struct.Struct("QQQQ")      # address, bytes, where to put the cookie, flags
RDMA_ARGS = struct.Struct("QQQQQQQ")     # cookie, offset, bytes, vector, its length, flags, token
VECTOR = struct.Struct("QQ")             # address, bytes
ATOMIC_ARGS = struct.Struct("9Q")        # cookie, result, offset, four operands, flags, token
STATUS = struct.Struct("Qi")             # token, status
REMOTE_ERROR = 1
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


class End:
    def __init__(self, address, port=PORT):
        self.name = (address, port)
        self.socket = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
        for option in SO_SNDBUFFORCE, SO_RCVBUFFORCE:
            self.socket.setsockopt(socket.SOL_SOCKET, option, 4 << 20)
        self.socket.bind(self.name)

    def send(self, peer, data, *control):
        done = self.socket.sendmsg([data], control, 0, peer.name)
        assert done == len(data), f"{done} of {len(data)} bytes were sent"

    def receive(self, peer):
        """The data, and the control messages by type."""
        data, control, _, name = self.socket.recvmsg(SIZES[-1], 4096)
        assert name == peer.name, f"from {name}"
        return data, {kind: value for level, kind, value in control if level == SOL_RDS}


class Buffer:
    def __init__(self, data):
        self.map = mmap.mmap(-1, len(data))
        self.map[:] = data
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


def content(number, size):
    block = hashlib.sha256(str(number).encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def sizes():
    a, b = End(A), End(B)
    for source, target in (a, b), (b, a):
        for size in SIZES:
            source.send(target, content(size, size))
            data, _ = target.receive(source)
            assert data == content(size, size), f"a message of {size} bytes"


def message(number):
    return struct.pack("I", number) + content(number, number * 997 % 20011)


def receive_all(end, peer, count, problems):
    try:
        for number in range(count):
            data, _ = end.receive(peer)
            assert data == message(number), f"message {number} of {end.name}"
    except (AssertionError, OSError) as error:
        problems.append(error)


def order():
    pairs = [(End(A, PORT + n), End(B, PORT + n)) for n in range(4)]
    problems, threads = [], []
    for a, b in pairs:
        for end, peer in (a, b), (b, a):
            threads.append(threading.Thread(target=receive_all,
                                            args=(end, peer, 200, problems)))
    for thread in threads:
        thread.start()
    for number in range(200):
        for a, b in pairs:
            a.send(b, message(number))
            b.send(a, message(number))
    for thread in threads:
        thread.join()
    assert not problems, problems


def offer(b, a, buffer, size, flags=0):
    """By a message.  Return: the cookie"""
    b.send(a, b"here", (SOL_RDS, CMSG_RDMA_MAP, GET_MR_ARGS.pack(
        buffer.address, size, 0, flags | RDMA_READWRITE)))
    data, control = a.receive(b)
    assert data == b"here"
    return struct.unpack("Q", control[CMSG_RDMA_DEST])[0]


def notified(end, token):
    """The status of what was to be notified"""
    _, control, _, _ = end.socket.recvmsg(0, 4096)
    assert control[0][:2] == (SOL_RDS, CMSG_RDMA_STATUS), control
    got, status = STATUS.unpack(control[0][2][:STATUS.size])
    assert got == token, f"token {got}, not {token}"
    return status


def rdma(write):
    """B offers a buffer by a message, A answers by a message after its RDMA."""
    a, b = End(A), End(B)
    for size in SIZES[1:]:
        theirs = Buffer(content("theirs", size))
        ours = Buffer(content("ours", size))
        cookie = offer(b, a, theirs, size, RDMA_USE_ONCE)
        vector = Buffer(VECTOR.pack(ours.address, size))
        a.send(b, b"done", (SOL_RDS, CMSG_RDMA_ARGS, RDMA_ARGS.pack(
            cookie, 0, size, vector.address, 1,
            RDMA_NOTIFY | (RDMA_READWRITE if write else 0), size)))
        data, _ = b.receive(a)
        assert data == b"done"
        status = notified(a, size)
        assert status == 0, f"status {status}"
        moved = content("ours" if write else "theirs", size)
        assert (ours.map[:], theirs.map[:]) == (moved, moved), f"{size} bytes"


ALL = (1 << 64) - 1
ATOMICS = (                              # kind, operands
    (FADD, (5,)),
    (CSWP, (37, 7)),
    (MASKED_FADD, (1, 0)),
    (MASKED_FADD, (1, 1 << 31)),
    (MASKED_CSWP, (37, 7, ALL, ALL)),
    (MASKED_CSWP, (37, 7, 0xff, 0x0f)),
)


def no_right():
    """RDS connects again, and never drops such a message, but with its socket."""
    for token, (kind, operands) in enumerate(ATOMICS):
        a, b = End(A), End(B)
        b.send(a, b"connected")         # without a connection, memory cannot be registered
        data, _ = a.receive(b)
        assert data == b"connected"
        word, result = Buffer(struct.pack("Q", 37)), Buffer(bytes(8))
        cookie = offer(b, a, word, 8)
        a.send(b, b"done", (SOL_RDS, kind, ATOMIC_ARGS.pack(
            cookie, result.address, 0, *(operands + (0, 0, 0))[:4], RDMA_NOTIFY, token)))
        status = notified(a, token)
        assert status == REMOTE_ERROR, f"{token}: status {status}"
        assert (word.map[:], result.map[:]) == (struct.pack("Q", 37), bytes(8)), f"{token}"
        a.socket.close()
        b.socket.close()


def flow_out(source, target, file, window, sent):
    while os.path.exists(file) or not sent[0]:
        window.acquire()
        source.send(target, message(sent[0]))
        sent[0] += 1
    window.acquire()
    source.send(target, b"end")


def flow_in(end, peer, file, window, received):
    while True:
        data, _ = end.receive(peer)
        window.release()
        if data == b"end":
            return
        assert data == message(received[0]), f"message {received[0]} of {end.name}"
        received[0] += 1
        pathlib.Path(f"{file}.{end.name[0]}").touch()


def flow(file):
    """The window keeps receivers below their SO_RCVBUF."""
    a, b = End(A), End(B)
    threads, counts = [], []

    def ends(*why):
        print("sent and received:", counts, *why, flush=True)
        os._exit(1)

    signal.signal(signal.SIGTERM, ends)
    threading.excepthook = ends
    for source, target in (a, b), (b, a):
        sent, received, window = [0], [0], threading.Semaphore(WINDOW)
        counts.append((sent, received))
        for run, args in ((flow_out, (source, target, file, window, sent)),
                          (flow_in, (target, source, file, window, received))):
            threads.append(threading.Thread(target=run, args=args))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("sent and received:", counts)
    assert all(sent == received for sent, received in counts)


CASES = {"sizes": sizes, "order": order, "flow": flow, "no-right": no_right,
         "write": lambda: rdma(True), "read": lambda: rdma(False)}
CASES[sys.argv[1]](*sys.argv[2:])
