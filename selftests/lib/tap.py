# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - TAP for programs in Python

  class Tap       check() prints the result of a check, followed by the remarks if it
                  failed; skip() is for a check that cannot be made; end() prints the
                  plan, unless it was given before, and exits
  tap_bound()     the seconds that only a hang reaches
  tap_late(what)  *what* did not happen within that time; printed if the next check
                  fails, see ktap.sh
  skip_all(why)   exits: nothing can be checked here
"""

import os
import sys

KSFT_PASS, KSFT_FAIL, KSFT_SKIP = 0, 1, 4
LATE = []


def tap_bound():
    return float(os.environ.get("KTAP_BOUND") or 300)


def tap_late(what):
    LATE.append(what)


class Tap:
    def __init__(self, plan=None):
        self.number = 0
        self.failed = 0
        self.plan = plan
        if plan is not None:
            self._say(f"1..{plan}")

    @staticmethod
    def _say(text):
        print(text, flush=True)

    def _point(self, word, what):
        self.number += 1
        self._say(f"{word} {self.number} {what}")

    def check(self, what, good, *remarks):
        """Returns *good*."""
        self._point("ok" if good else "not ok", what)
        if not good:
            self.failed += 1
            for wait in LATE:
                self._say(f"# late: {wait}")
            for remark in remarks:
                for line in str(remark).splitlines():
                    self._say(f"#   {line}")
        LATE.clear()
        return good

    def skip(self, what, why):
        self._point("ok", f"{what} # SKIP {why}")

    def end(self):
        if self.plan is None:
            self._say(f"1..{self.number}")
        sys.exit(KSFT_FAIL if self.failed else KSFT_PASS)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(KSFT_SKIP)
