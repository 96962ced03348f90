#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# srnic selftests - the subjects of commits follow style.rst
# usage: selftests/meta/commits.sh
#
# Those after SINCE; some of those before it do not.

cd "$(dirname "$(readlink -f "$0")")/../.." || exit
. selftests/lib/ktap.sh

SINCE=6e5c33555f6e

# First words of sentences that are not imperative, as far as no list of verbs is needed
NO_VERB='an?|the|th(is|ese|at|ose)|no|not|all|each|every|some|what|when|where|why|how|if'
NO_VERB+='|[a-z]+ing|[a-z]+ed|(add|fixe|make|take|use|move|remove|allow|let|tell)s'

VERB='bring|embed|feed|need|seed|speed|string'

# subjects: of the commits to check
subjects()
{
	git log --no-merges --format=%s "$SINCE..HEAD"
}

# short, prefixed, imperative: print the subjects, of those on standard input, that are not
short()
{
	! grep -E '.{72}'
}

prefixed()
{
	! grep -vE '^(Revert "|srnic: [a-z0-9_.,/-]+: )'
}

imperative()
{
	! sed -nE 's/^srnic: //; s/^([^ ]+: )+//p' | grep -vixE "($VERB)( .*)?" |
		grep -ixE "($NO_VERB)( .*)?"
}

# refuses CHECK SUBJECT: the check prints it, and fails
refuses()
{
	! echo "$2" | "$1"
}

need git
git merge-base --is-ancestor "$SINCE" HEAD 2>/dev/null ||
	skip_all "no history of the sources"

ktap_plan 6
check "subjects are shorter than 72 columns"	short < <(subjects)
check "subjects name the part of the project"	prefixed < <(subjects)
check "subjects are imperative sentences"	imperative < <(subjects)
check "a subject of 72 columns is seen"		refuses short "$(printf '%072d' 0)"
check "one without a part is seen"		refuses prefixed "srnic: Add a test"
check "one that names a state is seen"		refuses imperative "srnic: mem: the key is free"
ktap_end
