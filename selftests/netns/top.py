#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic-top, looking at the queue pairs of top.sh

usage: top.py held A B IDLE NAME
       top.py lost
       top.py marked

A and B are a pair after work() of verbs/observe.c, created by the process NAME.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from tap import Tap, tap_bound, tap_late  # noqa: E402

# What work() carries: three SENDs of 64 bytes, two WRITEs of 2 * 4096 + 1, a READ of 100, an
# atomic
OUT, IN, MESSAGES = 3 * 64 + 2 * (2 * 4096 + 1), 100, 7
DEVICES = {"nsA": "sr0", "nsB": "sr1"}
UNPRIVILEGED = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")


def top(host, *words, user=()):
    """The output of srnic-top there"""
    return subprocess.run(["ip", "netns", "exec", host, *user, "srnic-top", "--once",
                           "--interval", "0.01", "--dev", DEVICES[host], *words],
                          stdout=subprocess.PIPE, check=True).stdout.decode()


def rows(host, *words, user=()):
    return json.loads(top(host, "--json", *words, user=user))["queue_pairs"]


def until(what, host, good):
    """Does this become true for the only queue pair there?"""
    end = time.monotonic() + tap_bound()
    found = []
    while time.monotonic() < end:
        found = rows(host)
        if len(found) == 1 and good(found[0]):
            return True, found
    tap_late(what)
    return False, found


# --- known queue pairs -------------------------------------------------------------------


def is_like(row, **values):
    wrong = {key: row.get(key) for key, value in values.items() if row.get(key) != value}
    return not wrong, wrong


def figures(tap, a, b, name):
    row, = rows("nsA", "--filter", f"qp={a}")
    tap.check("figures of the requester", *is_like(
        row, out_bytes=OUT, in_bytes=IN, out_msgs=MESSAGES, in_msgs=0, limit="application",
        peer=f"{b}@10.9.0.2", program=name, dev="sr0", type="RC", state="RTS", marked=0, cnps=0))
    row, = rows("nsB", "--filter", f"qp={b}")
    tap.check("figures of the responder", *is_like(
        row, out_bytes=IN, in_bytes=OUT, out_msgs=0, in_msgs=MESSAGES, limit="application",
        peer=f"{a}@10.9.0.1", program=name, dev="sr1", marked=0, cnps=0))
    row, = rows("nsA", "--filter", f"qp={a}", user=UNPRIVILEGED)
    tap.check("without privileges, all but the address is seen", *is_like(
        row, out_bytes=OUT, in_bytes=IN, out_msgs=MESSAGES, peer=b, program=name))


def chosen(tap, a, idle):
    """Only the round trips of A have been measured."""
    cases = ((("--sort", "rtt_ns"), [a, idle]), (("--sort", "rtt_ns", "--reverse"), [idle, a]),
             (("--filter", f"qp={idle}"), [idle]), (("--filter", "program=no*"), []),
             (("--filter", "rtt_ns=0", "--filter", "dev=sr?"), [idle]))
    for words, numbers in cases:
        found = [row["qp"] for row in rows("nsA", *words)]
        tap.check(" ".join(words).replace(f"{a}", "A").replace(f"{idle}", "IDLE"),
                  found == numbers, found)


def text(tap, a):
    said = top("nsA", "--filter", f"qp={a}")
    lines = said.split("\n")
    tap.check("text", len(lines) == 4 and lines[0].startswith("sr0/1: ") and
              lines[1].startswith("PROGRAM") and f" {a} " in lines[2], said)
    tap.check("names have no control characters in it",
              all(line.isprintable() for line in lines) and "\\x1b[7mx" in lines[2], repr(said))
    said = top("nsA", "--columns", "qp,limit", "--filter", f"qp={a}")
    tap.check("columns", said.split("\n")[1:] == [f"{'QP':>8} LIMIT", f"{a:>8} application", ""],
              said)


# --- a terminal --------------------------------------------------------------------------


class Terminal:
    """One with srnic-top in it"""

    def __init__(self, kind):
        self.end, self.tty = pty.openpty()
        self.resize(24, 160)
        self.modes = termios.tcgetattr(self.tty)
        self.seen = ""
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", "nsA", "srnic-top", "--interval", "0.1", "--dev", "sr0"],
            stdin=self.tty, stdout=self.tty, stderr=self.tty, start_new_session=True,
            env=dict(os.environ, TERM=kind),
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, height, width):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys):
        os.write(self.end, keys)

    def page(self):
        """The lines of the last page that is complete"""
        pages = re.findall("\x1b\\[H(.*?)\x1b\\[J", self.seen, re.DOTALL)
        return re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", pages[-1]).split("\r\n") if pages else []

    def until(self, good):
        """Does this become true of what it prints?"""
        end = time.monotonic() + tap_bound()
        while not good():
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.end], [], [], left)[0]:
                tap_late("srnic-top in a terminal")
                return False
            self.seen += os.read(self.end, 65536).decode("utf-8", "replace")
        return True

    def ended(self):
        """(did it succeed, and is the terminal as before?, what it printed)"""
        status = self.process.wait(tap_bound())
        while select.select([self.end], [], [], 0)[0]:
            self.seen += os.read(self.end, 65536).decode("utf-8", "replace")
        same = termios.tcgetattr(self.tty) == self.modes
        # the line discipline signals first and echoes then, by the modes that it finds
        screen = self.seen.removesuffix("^C")
        return status == 0 and same and screen.endswith("\x1b[?1049l"), \
            f"{status} {same} {self.seen[-400:]!r}"

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.end)
        os.close(self.tty)


def in_terminal(tap, a):
    terminal = Terminal("xterm")
    tap.check("a page", terminal.until(lambda: any(f" {a} " in line for line in terminal.page())),
              terminal.seen[-400:])
    terminal.resize(4, 40)
    tap.check("a smaller one", terminal.until(
        lambda: [len(line) for line in terminal.page()] == [40] * 4), terminal.page())
    terminal.type(b">>")
    tap.check("another order", terminal.until(
        lambda: " by pid" in terminal.page()[0]), terminal.page())
    terminal.type(b"q")
    tap.check("q", *terminal.ended())
    terminal.close()


def ends(tap):
    for what, act in (("Ctrl-C", lambda one: one.type(b"\x03")),
                      ("SIGTERM", lambda one: one.process.send_signal(signal.SIGTERM))):
        terminal = Terminal("xterm")
        terminal.until(terminal.page)
        act(terminal)
        tap.check(what, *terminal.ended())
        terminal.close()


def dumb(tap, a):
    terminal = Terminal("dumb")
    twice = terminal.until(lambda: terminal.seen.count(f" {a} ") >= 2)
    lines = terminal.seen.rstrip("\r").split("\r\n")
    tap.check("a dumb terminal", twice and all(line.isprintable() for line in lines),
              terminal.seen)
    terminal.type(b"\x03")
    tap.check("Ctrl-C there", terminal.process.wait(tap_bound()) == -signal.SIGINT and
              "Traceback" not in terminal.seen, terminal.seen)
    terminal.close()


def held(tap, a, b, idle, name):
    figures(tap, a, b, name)
    chosen(tap, int(a), int(idle))
    text(tap, int(a))
    in_terminal(tap, a)
    ends(tap)
    dumb(tap, a)


# --- a flow ------------------------------------------------------------------------------


def lost(tap):
    tap.check("losses are shown", *until(
        "loss", "nsA", lambda row: row["lost"] > 0 and row["retransmitted"] > 0 and
        row["out_rate"] > 0 and row["rtt_ns"] > 0))
    tap.check("and those of the peer", *until(
        "loss", "nsB", lambda row: row["lost"] > 0 and not row["retransmitted"] and
        row["in_rate"] > 0))


def marked(tap):
    tap.check("the rate limits", *until(
        "rate", "nsA", lambda row: row["limit"] == "pace" and row["cnps"] > 0 and
        not row["marked"]))
    tap.check("marks are shown", *until(
        "mark", "nsB", lambda row: row["marked"] > 0 and not row["cnps"]))


def main():
    tap = Tap()
    {"held": held, "lost": lost, "marked": marked}[sys.argv[1]](tap, *sys.argv[2:])
    tap.end()


main()
