#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each operation of each size and shape moves its bytes and no other: a topic with a
# script of its own, for whoever wants a quick answer about a kernel or a machine.

exec "$(dirname "$0")/topics.sh" data
