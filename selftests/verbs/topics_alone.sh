#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The topics that topics.sh leaves to be asked for, as they are large or slow.
# selftests/plan has them one by one; this is for whoever runs the folder.

exec "$(dirname "$0")/topics.sh" alone
