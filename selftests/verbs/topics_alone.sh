#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The topics that topics.sh runs only on request, because they are large or slow.
# selftests/plan lists them one by one; this script is for kselftest.

exec "$(dirname "$0")/topics.sh" alone
