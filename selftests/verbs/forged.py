#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - acknowledgments and responses that no peer has sent

forged.py SRC DST OPCODE,QPN,PSN,SYNDROME[,BYTES]...   sends one packet for each
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import roce  # noqa: E402


def made(src, dst, text):
    opcode, *numbers = text.split(",")
    qpn, psn, syndrome, size = (numbers + ["0"])[:4]
    return roce.packet(src, dst, opcode, int(qpn), int(psn),
                       roce.AETH(syndrome=int(syndrome), msn=0),
                       payload=bytes(int(size)))


roce.send([made(*sys.argv[1:3], text) for text in sys.argv[3:]])
