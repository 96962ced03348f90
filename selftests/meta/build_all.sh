#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - no compiler reports anything about the module, for several kernels
# usage: selftests/meta/build_all.sh

exec "$(dirname "$(readlink -f "$0")")/build.sh" --all
