#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - what srnic-top shows of given samples

Samples have the form in which rdma(8) prints them.  The arithmetic of each case is in it.
Prints TAP.
"""

import contextlib
import io
import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from tap import Tap  # noqa: E402
from tool import load  # noqa: E402
from doctor import facts  # noqa: E402

top = load("srnic-top")

PAIR = {
    "ifindex": 1, "ifname": "sr0", "port": 1, "lqpn": 17, "rqpn": 18, "type": "RC", "state": "RTS",
    "rq-psn": 0, "sq-psn": 0, "path-mig-state": "MIGRATED", "pid": 4711, "comm": "ib_write_bw",
    "drv_data_out": 0, "drv_data_in": 0, "drv_messages_out": 0, "drv_messages_in": 0,
    "drv_srtt_ns": 20500, "drv_window": 128, "drv_limit": "window", "drv_lost": 0,
    "drv_retransmitted": 0, "drv_marked": 0, "drv_cnps": 0, "drv_peer": "10.9.0.2"}
PORT = dict({counter: 0 for counter in top.COUNTERS.values()}, ifname="sr0", port=1)
VIEW = top.View(dev=None, filter=[], sort="traffic", reverse=False, columns=list(top.COLUMNS),
                interval=1, once=True, json=False)


def pair(**changes):
    return dict(PAIR, **{f"drv_{key}" if f"drv_{key}" in PAIR else key: value
                         for key, value in changes.items()})


def taken(time, *pairs, port=None):
    """The sample of these objects"""
    return top.Sample(time, top.rows(top.pair_row, pairs),
                      top.rows(top.port_row, [dict(PORT, **(port or {}))]))


def shown(before, now, **changes):
    """The rows of queue pairs that are shown, in their order"""
    pairs, _ = top.compare(before, now)
    return top.arranged(pairs, VIEW._replace(**changes))


def rates_are_increases():
    """Between 10.0 s and 12.5 s: 10 MiB and 5 messages out, 1 MiB and 1000 messages in"""
    before = taken(10.0, pair(data_out=7, data_in=2**32, messages_out=3, messages_in=2**40))
    now = taken(12.5, pair(data_out=7 + 10 * 2**20, data_in=2**32 + 2**20, messages_out=8,
                           messages_in=2**40 + 1000))
    row, = shown(before, now)
    assert (row["out_rate"], row["in_rate"]) == (4 * 2**20, 0.4 * 2**20), row
    assert (row["out_msg_rate"], row["in_msg_rate"]) == (2, 400), row
    assert (row["out_bytes"], row["in_msgs"]) == (7 + 10 * 2**20, 2**40 + 1000), row
    assert [top.cell(row, name) for name in ("out_rate", "in_rate", "out_msg_rate")] == \
        ["4.0", "0.4", "2"]


def new_pairs_start_at_0():
    """One that has appeared, and one that has taken the number of another, or was reset"""
    before = taken(1, pair(data_out=10**9, messages_out=50))
    now = taken(3, pair(data_out=4000, messages_out=60), pair(lqpn=19, data_out=600))
    rates = {row["qp"]: (row["out_rate"], row["out_msg_rate"]) for row in shown(before, now)}
    assert rates == {17: (2000, 5), 19: (300, 0)}, rates


def first_has_no_rates():
    row, = shown(None, taken(1, pair(data_out=1000)))
    assert row["out_rate"] is None and row["out_bytes"] == 1000, row
    assert top.cell(row, "out_rate") == "-"


def gone_is_gone():
    assert not shown(taken(1, pair()), taken(2))


def signed_and_hexadecimal():
    """rdma(8) prints 32 bits as signed, and some numbers as hexadecimal text."""
    row, = shown(None, taken(1, pair(lost=-1, marked="0x10")))
    assert (row["lost"], row["marked"]) == (2**32 - 1, 16), row


def only_connected():
    others = [{key: value for key, value in PAIR.items() if not key.startswith("drv_")},
              pair(state="RESET"), pair(state="INIT"), pair(state="ERR")]
    datagram = {key: value for key, value in pair(type="UD").items() if key != "drv_data_out"}
    assert not shown(None, taken(1, *others, datagram))
    assert len(shown(None, taken(1, *(pair(state=state, lqpn=number) for number, state in
                                      enumerate(("RTR", "RTS", "SQD", "SQE")))))) == 4


def peers():
    cases = ((pair(), "18@10.9.0.2"), (pair(rqpn=None), "10.9.0.2"), (pair(peer=None), "18"),
             (pair(peer="fd09::2"), "18@fd09::2"), (pair(peer=None, rqpn=None), "-"))
    for thing, text in cases:
        row, = shown(None, taken(1, thing))
        assert top.cell(row, "peer") == text, (thing, row)


def sorted_rows():
    before = taken(1, pair(), pair(lqpn=18), pair(lqpn=19))
    now = taken(2, pair(data_out=5, retransmitted=2, comm="b", pid=None),
                pair(lqpn=18, data_out=2, data_in=9, retransmitted=7, comm="c"),
                pair(lqpn=19, data_in=1, comm="a"))
    cases = (("traffic", False, [18, 17, 19]), ("traffic", True, [19, 17, 18]),
             ("out_rate", False, [17, 18, 19]), ("retransmitted", False, [18, 17, 19]),
             ("program", False, [19, 17, 18]), ("program", True, [18, 17, 19]),
             ("qp", False, [19, 18, 17]), ("marked", False, [17, 18, 19]),
             ("pid", False, [18, 19, 17]))
    for by, back, numbers in cases:
        found = [row["qp"] for row in shown(before, now, sort=by, reverse=back)]
        assert found == numbers, (by, back, found)


def filtered_rows():
    now = taken(2, pair(), pair(lqpn=18, comm="ib_read_bw", limit="pace"),
                pair(lqpn=19, ifname="sr1", comm="[ib_core]", pid=None))
    cases = (([], [17, 18, 19]), ([("program", "ib_*")], [17, 18]), ([("dev", "sr1")], [19]),
             ([("program", "ib_*"), ("limit", "pace")], [18]), ([("qp", "1[79]")], [17, 19]),
             ([("program", "IB_*")], []), ([("pid", "")], [19]))
    for filters, numbers in cases:
        found = [row["qp"] for row in shown(None, now, filter=filters)]
        assert found == numbers, (filters, found)


def ports():
    """Between 1 s and 3 s: 6 MiB in 3000 packets received"""
    before = taken(1, port={"rx_bytes": 5, "rx_pkts": 1})
    now = taken(3, port={"rx_bytes": 5 + 6 * 2**20, "rx_pkts": 3001, "rx_drops": 17})
    (head,), _ = top.page(before, now, VIEW)
    assert head.startswith("sr0/1: out 0.0 MiB/s 0 pkt/s, in 3.0 MiB/s 1500 pkt/s, "), head
    assert head.endswith(", dropped 17"), head
    assert not taken(1).ports.keys() - {"sr0/1"} and \
        not top.rows(top.port_row, [{"ifname": "rxe0", "port": 1, "sent_pkts": 3}])


def aligned():
    """All titles and values end, or begin, where those of the other lines do."""
    lines = top.table(shown(None, taken(1, pair(), pair(lqpn=18, comm="x" * 40))),
                      ["program", "qp", "limit"])
    assert lines == [f"{'PROGRAM':40} {'QP':>8} LIMIT",
                     f"{'ib_write_bw':40} {17:>8} window", f"{'x' * 40} {18:>8} window"], lines


def hostile_names():
    """Names are printed without control characters, and keep all of them in JSON."""
    name = "\x1b[2J\n\x07\udcff\u202e\x9b"
    sample = taken(1, pair(comm=name, ifname=name, limit=name, peer=name), port={"ifname": name})
    lines = top.as_text(sample, sample._replace(time=2), VIEW).split("\n")
    assert len(lines) == 3 and all(line.isprintable() for line in lines), lines
    data = json.loads(top.as_json(sample, sample._replace(time=2), VIEW))
    assert data["queue_pairs"][0]["program"] == name and data["ports"][0]["dev"] == name


def keys():
    view = VIEW._replace(columns=["qp", "program"])
    cases = (("", "traffic"), (">", "qp"), (">>", "program"), (">>>", "traffic"),
             ("<", "program"), ("x\x1b[A\xff", "traffic"))
    for pressed, by in cases:
        assert top.turned(view, pressed).sort == by, pressed
    assert top.turned(view, "r").reverse and not top.turned(view, "rr").reverse
    assert top.turned(view, ">q>") is None
    assert top.turned(view._replace(sort="cnps"), ">").sort == "qp"


def mutated(rng, text):
    """The text with some of its words replaced by others"""
    words = json.loads(text)
    for thing in words:
        for key in rng.sample(sorted(thing), rng.randint(0, 3)):
            thing[key] = rng.choice((None, "", "x", -1, 2**70, 1.5, [], {}, True, "0x",
                                     "1" * 5000))
            if rng.random() < 0.3:
                del thing[key]
    text = json.dumps(words)
    cut = rng.randrange(len(text))
    return text if rng.random() < 0.7 else text[:cut] + rng.choice("[]{}\",:\\0\x01") + text[cut:]


def any_output():
    """With any output of rdma(8) there is a table, or a message."""
    rng = random.Random(1)
    real = facts.run
    try:
        for _ in range(1000):
            facts.run = lambda *words: (mutated(rng, json.dumps(
                [PORT] if "statistic" in words else [PAIR, pair(lqpn=18)])), "")
            try:
                first, second = top.sample(None), top.sample("sr0")
            except top.Failed:
                continue
            text = top.as_text(first, second._replace(time=first.time + 1), VIEW)
            assert all(line.isprintable() for line in text.split("\n")), text
    finally:
        facts.run = real


def tool_fails():
    """What the rdma tool says when it fails is passed on, without control characters."""
    real, argv, out = facts.run, sys.argv, io.StringIO()
    facts.run, sys.argv = lambda *_: (None, "no \x1bdevice"), ["srnic-top", "--once"]
    try:
        with contextlib.redirect_stderr(out):
            top.main()
        assert False
    except SystemExit as end:
        assert end.code == 2 and out.getvalue() == "srnic-top: no \\x1bdevice\n", out.getvalue()
    finally:
        facts.run, sys.argv = real, argv


def main():
    cases = (rates_are_increases, new_pairs_start_at_0, first_has_no_rates, gone_is_gone,
             signed_and_hexadecimal, only_connected, peers, sorted_rows, filtered_rows, ports,
             aligned, hostile_names, keys, any_output, tool_fails)
    tap = Tap(len(cases))
    for one in cases:
        name = one.__name__.replace("_", " ")
        try:
            one()
            tap.check(name, True)
        except (AssertionError, *facts.UNREADABLE) as error:
            tap.check(name, False, f"{type(error).__name__}: {error}")
    tap.end()


main()
