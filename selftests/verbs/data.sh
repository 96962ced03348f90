#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each operation of each size and shape transfers its bytes and modifies no other.  This
# topic has a script of its own, for a quick test of a kernel or a machine.

exec "$(dirname "$0")/topics.sh" data
