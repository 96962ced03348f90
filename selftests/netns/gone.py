#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - the first request that is posted to a device that has gone fails

gone.py DEV OWN PEER
"""

import errno
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from lone import Lone, run  # noqa: E402
from pyverbs.pyverbs_error import PyverbsRDMAError  # noqa: E402

with Lone(*sys.argv[1:]).up() as lone:
    run("rdma", "link", "del", sys.argv[1])
    try:
        lone.post_read(64)
    except PyverbsRDMAError as error:
        sys.exit(error.error_code != errno.EIO)
sys.exit("it was accepted")
