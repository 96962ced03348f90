#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - Shared Memory Communications over RDMA (SMC-R): its sockets and its statistics

usage: smc.py serve PORT COUNT    answer that many connections by what they send
       smc.py ask ADDRESS PORT COUNT BYTES
                                  connections at the same time; compare the answers
       smc.py rate ADDRESS PORT BYTES SECONDS
                                  one request after the other, each as long as its answer: print
                                  MiB/s, million a second, and microseconds of one: median and
                                  99th percentile
       smc.py outlive ADDRESS PORT FILE
                                  send until the connection breaks; FILE once data have returned
       smc.py ueid                enable version 2, by an identifier that both ends have
       smc.py stats               print the statistics of this namespace
"""

import pathlib
import random
import socket
import struct
import sys
import threading
import time

IPPROTO_SMC = 256
CHUNK = 65536

NETLINK_GENERIC = 16
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLA_TYPE = 0x3fff
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
SMC_GET_STATS, SMC_GET_FALLBACKS, SMC_ADD_UEID = 7, 8, 10
SMC_STATS, SMC_FALLBACKS = 7, 8
STATS_SMCR = 2
STATS_WORDS = {"client_v1": 7, "client_v2": 8, "server_v1": 9, "server_v2": 10,
               "rx_bytes": 16, "tx_bytes": 17}
FALLBACK_CODE = 4
UEID = b"SRNIC".ljust(32) + b"\0"


def stream(seed):
    """A generator of chunks of all sizes, which depend on *seed* alone."""
    numbers = random.Random(seed)
    while True:
        yield numbers.randbytes(numbers.randint(1, CHUNK))


def echo(connection):
    with connection:
        try:
            while data := connection.recv(CHUNK):
                connection.sendall(data)
        except OSError as error:
            print("the server's end:", error)


def serve(port, count):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", int(port)))
        listener.listen()
        threads = []
        for _ in range(int(count)):
            connection, _ = listener.accept()
            threads.append(threading.Thread(target=echo, args=(connection,)))
            threads[-1].start()
        for thread in threads:
            thread.join()


def connect(address, port):
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    connection.connect((address, int(port)))
    return connection


def send_all(connection, seed, total):
    for chunk in stream(seed):
        chunk = chunk[:total]
        connection.sendall(chunk)
        total -= len(chunk)
        if not total:
            break
    connection.shutdown(socket.SHUT_WR)


def ask_one(address, port, seed, total, problems):
    try:
        with connect(address, port) as connection:
            sender = threading.Thread(target=send_all, args=(connection, seed, total),
                                      daemon=True)
            sender.start()
            at, chunks, expected = 0, stream(seed), b""
            while data := connection.recv(CHUNK):
                while len(expected) < len(data):
                    expected += next(chunks)
                assert data == expected[:len(data)], f"after {at} bytes of connection {seed}"
                expected = expected[len(data):]
                at += len(data)
            assert at == total, f"{at} bytes of connection {seed}"
            sender.join()
    except (AssertionError, OSError) as error:
        problems.append(error)


def ask(address, port, count, total):
    problems = []
    threads = [threading.Thread(target=ask_one, args=(address, port, seed, int(total), problems))
               for seed in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems


def rate(address, port, size, seconds):
    request, times = random.randbytes(int(size)), []
    with connect(address, port) as connection:
        begin = now = time.monotonic()
        while now < begin + float(seconds):
            connection.sendall(request)
            answer = connection.recv(len(request), socket.MSG_WAITALL)
            assert answer == request, f"request {len(times)}"
            before, now = now, time.monotonic()
            times.append(now - before)
    times.sort()
    print(len(times) * len(request) / 2**20 / (now - begin), len(times) / 1e6 / (now - begin),
          *(times[len(times) * part // 100] * 1e6 for part in (50, 99)))


def drain(connection, file):
    try:
        while connection.recv(CHUNK):
            pathlib.Path(file).touch()
    except OSError as error:
        print("the client's end:", error)


def outlive(address, port, file):
    with connect(address, port) as connection:
        reader = threading.Thread(target=drain, args=(connection, file))
        reader.start()
        try:
            for chunk in stream(0):
                connection.sendall(chunk)
        except OSError as error:
            print("the client's end:", error)
        reader.join()


def attributes(data):
    """Pairs of type and value."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        yield kind & NLA_TYPE, data[4:length]
        data = data[(length + 3) & ~3:]


def attribute(kind, data):
    head = struct.pack("HH", 4 + len(data), kind)
    return head + data + bytes(-len(data) % 4)


def genl(family, command, flags=0, payload=b""):
    """The attributes of all answers."""
    body = struct.pack("BBH", command, 1, 0) + payload
    head = struct.pack("IHHII", 16 + len(body), family, NLM_F_REQUEST | NLM_F_ACK | flags, 1, 0)
    answers = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as netlink:
        netlink.send(head + body)
        while True:
            data = netlink.recv(1 << 20)
            while data:
                length, kind = struct.unpack_from("IH", data)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    error = struct.unpack_from("i", data, 16)[0]
                    if error:
                        raise OSError(-error, f"netlink error {error}")
                    return answers
                answers += attributes(data[20:length])
                data = data[(length + 3) & ~3:]


def smc_family():
    name = attribute(CTRL_ATTR_FAMILY_NAME, b"SMC_GEN_NETLINK\0")
    answer = dict(genl(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, payload=name))
    return struct.unpack("H", answer[CTRL_ATTR_FAMILY_ID])[0]


def ueid():
    genl(smc_family(), SMC_ADD_UEID, payload=attribute(1, UEID))


def stats():
    family = smc_family()
    answer = dict(genl(family, SMC_GET_STATS, NLM_F_DUMP))
    smcr = dict(attributes(dict(attributes(answer[SMC_STATS]))[STATS_SMCR]))
    for name, kind in STATS_WORDS.items():
        print(name, struct.unpack("Q", smcr[kind])[0])
    fallbacks = [dict(attributes(value)) for kind, value
                 in genl(family, SMC_GET_FALLBACKS, NLM_F_DUMP) if kind == SMC_FALLBACKS]
    print("fallbacks", len(fallbacks))
    for fallback in fallbacks:
        print("reason %#x" % struct.unpack("I", fallback[FALLBACK_CODE]))


CASES = {"serve": serve, "ask": ask, "rate": rate, "outlive": outlive, "ueid": ueid, "stats": stats}
CASES[sys.argv[1]](*sys.argv[2:])
