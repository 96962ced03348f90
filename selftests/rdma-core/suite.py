#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""srnic selftests - rdma-core's own tests, as TAP

usage: suite.py --list | DEVICE SKIPS...

SKIPS name the tests that may be skipped, "PATTERN REASON" in each line.  A
test that is skipped and is not there has failed.
"""

import fnmatch
import importlib
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import tap  # noqa: E402

FOLDER = "/tmp/rdma-core-tests"
MODULES = """
    addr atomic cq cq_events cqex device flow fork mr odp parent_domain pd qp
    qpex rdmacm relaxed_ordering rss_traffic shared_pd srq tag_matching
""".split()


class Result(unittest.TestResult):
    """One line for each test, and the trace of what failed."""

    def __init__(self, skips):
        super().__init__()
        self.tap = tap.Tap()
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
            self.tap.skip(self.name(test), reason)
        else:
            self.tap.check(f"{self.name(test)} skipped: {reason}", False)
        self.bad = None

    def stopTest(self, test):
        super().stopTest(test)
        if self.bad is not None:
            self.tap.check(self.name(test), not self.bad, self.bad)


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
    result = Result(skips)
    load().run(result)
    result.tap.end()


main()
