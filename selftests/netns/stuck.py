#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Calls a command of an RDMA device that cannot end: the kernel faults on its input, a page
that userfaultfd guards.

usage: stuck.py DEVICE; prints "stuck" when the kernel waits for the page, and provides it
on SIGTERM
"""
import ctypes
import fcntl
import glob
import mmap
import os
import platform
import signal
import struct
import sys
import threading

SYS_USERFAULTFD = {"x86_64": 323, "aarch64": 282}[platform.machine()]
UFFDIO_API = 0xc018aa3f
UFFDIO_REGISTER = 0xc020aa00
UFFDIO_ZEROPAGE = 0xc020aa04
UFFD_API = 0xaa
MODE_MISSING = 1
GET_CONTEXT = 0
PAGE = mmap.PAGESIZE

libc = ctypes.CDLL(None, use_errno=True)


def uverbs(device):
    for path in glob.glob("/sys/class/infiniband_verbs/uverbs*/ibdev"):
        with open(path, encoding="ascii") as file:
            if file.read().strip() == device:
                return "/dev/infiniband/" + path.split("/")[-2]
    sys.exit(f"no uverbs device for {device}")


def guard(addr):
    fd = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    if fd < 0:
        sys.exit(f"userfaultfd: {os.strerror(ctypes.get_errno())}")
    fcntl.ioctl(fd, UFFDIO_API, struct.pack("QQQ", UFFD_API, 0, 0))
    fcntl.ioctl(fd, UFFDIO_REGISTER,
                struct.pack("QQQQ", addr, PAGE, MODE_MISSING, 0))
    return fd


def main():
    device = os.open(uverbs(sys.argv[1]), os.O_RDWR)
    pages = mmap.mmap(-1, 2 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    # The header is in the first page, what follows in the second.
    header = struct.pack("IHH", GET_CONTEXT, 6, 4)
    pages[PAGE - len(header):PAGE] = header
    fault = guard(start + PAGE)

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    caller = threading.Thread(target=libc.write, args=(
        device, ctypes.c_void_p(start + PAGE - len(header)), ctypes.c_size_t(24)))
    caller.start()
    os.read(fault, 32)
    print("stuck", flush=True)
    signal.sigwait({signal.SIGTERM})
    fcntl.ioctl(fault, UFFDIO_ZEROPAGE,
                struct.pack("QQQq", start + PAGE, PAGE, 0, 0))
    caller.join()


main()
