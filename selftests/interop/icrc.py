# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - checks the ICRC of each RoCEv2 packet of a capture
usage: icrc.py FILE

Prints "GOOD BAD"; the ICRC over IPv4 is that of scapy, over IPv6 our own
reading of annex A17, since scapy leaves that at zero.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import roce  # noqa: E402
from scapy.layers.inet import IP  # noqa: E402
from scapy.utils import PcapReader  # noqa: E402


def main():
    good = bad = 0
    for packet in PcapReader(sys.argv[1]):
        if not roce.is_roce(packet):
            continue
        wants = {roce.icrc(packet)}
        if IP in packet:
            wants.add(roce.icrc_seen(roce.as_scapy_has_it(packet)))
        if wants == {roce.icrc_seen(packet)}:
            good += 1
        else:
            bad += 1
            print(f"{packet.summary()}: {roce.icrc_seen(packet).hex()}, not "
                  f"{' or '.join(w.hex() for w in wants)}", file=sys.stderr)
    print(good, bad)


main()
