#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""srnic selftests - rdma-core's own tests, as TAP

usage: suite.py --list | DEVICE SKIPS...

SKIPS name the tests that may be skipped, "PATTERN REASON" in each line.  A
test that is skipped and is not there has failed.
"""

import fnmatch
import importlib
import sys
import types
import unittest

FOLDER = "/tmp/rdma-core-tests"
MODULES = """
    addr atomic cq cq_events cqex device flow fork mr odp parent_domain pd qp
    qpex rdmacm relaxed_ordering rss_traffic shared_pd srq tag_matching
""".split()


class Tap(unittest.TestResult):
    """One line for each test, and the trace of what failed."""

    def __init__(self, skips):
        super().__init__()
        self.skips = skips
        self.bad = ""

    @staticmethod
    def name(test):
        """That of @test, without the folder's."""
        return test.id().removeprefix("tests.")

    def may_skip(self, test):
        """Is @test one of those that may be skipped?"""
        return any(fnmatch.fnmatchcase(self.name(test), p) for p in self.skips)

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
        if self.may_skip(test):
            self.say("ok", f"{self.name(test)} # SKIP {reason}")
        else:
            self.say("not ok", f"{self.name(test)} skipped: {reason}")
        self.bad = None

    def stopTest(self, test):
        super().stopTest(test)
        if self.bad is None:
            return
        self.say("not ok" if self.bad else "ok", self.name(test))
        for line in self.bad.splitlines():
            print("#", line)

    def say(self, verdict, what):
        """A line of TAP."""
        print(verdict, self.testsRun, what, flush=True)


def load():
    """All tests, without the modules of vendors that a package would load."""
    package = types.ModuleType("tests")
    package.__path__ = [FOLDER]
    sys.modules["tests"] = package
    sys.path.insert(0, FOLDER)
    importlib.import_module("args_parser").parser.parse_args()
    loader = unittest.TestLoader()
    return unittest.TestSuite(
        loader.loadTestsFromModule(importlib.import_module(f"tests.test_{m}"))
        for m in MODULES)


def main():
    """What the command line says."""
    if sys.argv[1] == "--list":
        sys.argv[1:] = []
        print(load().countTestCases())
        return
    device, *files = sys.argv[1:]
    sys.argv[1:] = ["--dev", device]
    skips = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            skips += [line.split()[0] for line in file
                      if line.strip() and not line.startswith("#")]
    load().run(Tap(skips))


main()
