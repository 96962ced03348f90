#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ten thousand programs of differ.sh, for "make check-all".

HUNT=long exec "$(dirname "$0")/differ.sh"
