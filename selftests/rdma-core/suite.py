#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""srnic selftests - rdma-core's own tests, as TAP

usage: suite.py --list | DEVICE SKIPS... [--absent SKIPS...]

The tests are in the folder RDMA_CORE_TESTS.  SKIPS name the tests that may be skipped, "PATTERN
REASON" in each line.  A test that is skipped but not listed has failed.  Those after --absent
are not run: pyverbs may crash when it cleans up after a feature that a provider lacks.
"""

import fnmatch
import functools
import importlib
import multiprocessing
import os
import pathlib
import sys
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import tap  # noqa: E402

FOLDER = os.environ["RDMA_CORE_TESTS"]
MODULES = """
    addr atomic cq cq_events cqex device flow fork mr odp parent_domain pd qp
    qpex rdmacm relaxed_ordering rss_traffic shared_pd srq tag_matching
""".split()

LIMIT_S = 3600  # for everything that a test waits for


def name_of(test):
    """That of @test, without the folder's."""
    return test.id().removeprefix("tests.")


def is_named(test, skips):
    """Is @test one of those in @skips?"""
    return any(fnmatch.fnmatchcase(name_of(test), p) for p in skips)


class Result(unittest.TestResult):
    """One line for each test, and the trace of what failed."""

    def __init__(self, skips):
        super().__init__()
        self.tap = tap.Tap()
        self.skips = skips
        self.bad = ""

    def startTest(self, test):
        super().startTest(test)
        self.bad = ""

    def addError(self, test, err):
        super().addError(test, err)
        self.bad += self.errors[-1][1]

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.bad += self.failures[-1][1]

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.bad += self._exc_info_to_string(err, test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if is_named(test, self.skips):
            self.tap.skip(name_of(test), reason)
        else:
            self.tap.check(f"{name_of(test)} skipped: {reason}", False)
        self.bad = None

    def stopTest(self, test):
        super().stopTest(test)
        if self.bad is not None:
            self.tap.check(name_of(test), not self.bad, self.bad)


def be_patient():
    """Raises the limits that the tests may exceed on a slow machine."""
    base, rdmacm, utils = (importlib.import_module(f"tests.{name}")
                           for name in ("base", "base_rdmacm", "utils"))
    utils.POLL_CQ_TIMEOUT = LIMIT_S
    rdmacm.ConnParam = functools.partial(rdmacm.ConnParam, retry=7, rnr_retry=7)

    context = multiprocessing.context.BaseContext
    process = multiprocessing.process.BaseProcess
    barrier, join = context.Barrier, process.join
    context.Barrier = lambda self, parties, **_: barrier(self, parties, timeout=LIMIT_S)

    traffic = base.RDMACMBaseTest.two_nodes_rdmacm_traffic

    def two_nodes(self, *args, bad_flow=False, **kwargs):
        """Two processes that exchange data had 30 s; those that must not still have 0.6 s."""
        factor = 1 if bad_flow else LIMIT_S / 30
        with unittest.mock.patch.object(
                process, "join", lambda self, limit=None: join(self, limit and limit * factor)):
            traffic(self, *args, bad_flow=bad_flow, **kwargs)

    base.RDMACMBaseTest.two_nodes_rdmacm_traffic = two_nodes


def load():
    """All tests, without the modules of vendors that a package would load."""
    package = types.ModuleType("tests")
    package.__path__ = [FOLDER]
    sys.modules["tests"] = package
    # Processes that tests start are passed the test; Python 3.14 would have to pickle it.
    multiprocessing.set_start_method("fork")
    sys.path.insert(0, FOLDER)
    importlib.import_module("args_parser").parser.parse_args()
    be_patient()
    loader = unittest.TestLoader()
    return unittest.TestSuite(
        loader.loadTestsFromModule(importlib.import_module(f"tests.test_{m}"))
        for m in MODULES
        # Some are younger than the oldest rdma-core
        if pathlib.Path(FOLDER, f"test_{m}.py").exists())


def patterns(names):
    """What the files @names say, without the reasons."""
    found = []
    for name in names:
        with open(name, encoding="utf-8") as file:
            found += [line.split()[0] for line in file
                      if line.strip() and not line.startswith("#")]
    return found


def each(suite):
    """Every test of @suite and the suites in it."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def main():
    """What the command line says."""
    if sys.argv[1] == "--list":
        sys.argv[1:] = []
        print(load().countTestCases())
        return
    device, *files = sys.argv[1:]
    sys.argv[1:] = ["--dev", device]
    absent = []
    if "--absent" in files:
        at = files.index("--absent")
        files, absent = files[:at], patterns(files[at + 1:])
    result = Result(patterns(files))
    for test in each(load()):
        if is_named(test, absent):
            result.tap.skip(name_of(test), "not offered")
        else:
            test(result)
    result.tap.end()


main()
