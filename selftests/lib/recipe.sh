# SPDX-License-Identifier: GPL-2.0
# srnic selftests - commands of the documentation, run exactly as printed there
#
#   recipe NAME NS [VARIABLE=VALUE...]   run the commands below ".. recipe: NAME"
#                            in Documentation/security.rst on host NS
#   workflow_text FILE       print what is below ".. workflow: FILE" in Documentation/ci.rst
#   workflow_step STEP       print the commands of that step of the workflow for GitHub
#   man_recipe NAME NS [SED-SCRIPT]      run the commands below '.\" recipe: NAME' in srnic.7; sed
#                            replaces names and numbers of the examples
# shellcheck shell=bash
# shellcheck disable=SC2154 # netns.sh says where the selftests are

# page_text PAGE MARK: print the literal block below the line MARK, "::" between them
page_text()
{
	awk -v mark=".. $2" '
		$0 == mark { found = 1; next }
		found && $0 == "::" { next }
		found && /^  / { print substr($0, 3); lines++; next }
		found && lines && /^[^ ]/ { exit }
		found && lines { print "" }
		END { exit !lines }' "$selftests/../Documentation/$1.rst"
}

recipe_text()
{
	page_text security "recipe: $1"
}

workflow_text()
{
	page_text ci "workflow: $1"
}

workflow_step()
{
	workflow_text .github/workflows/rdma.yml | awk -v step="- name: $1" '
		{ text = $0; sub(/^ */, "", text) }
		text == step { found = 1; next }
		found && text == "run: |" { depth = length($0) - length(text) + 2; next }
		depth && length($0) - length(text) < depth { exit }
		depth { print substr($0, depth + 1); lines++ }
		END { exit !lines }'
}

recipe()
{
	local name=$1 ns=$2 text

	shift 2
	text=$(recipe_text "$name") || return
	on "$ns" env "$@" bash -euc "$text"
}

# The commands of a man page follow the prompt "# ".
man_recipe_text()
{
	awk -v mark=".\\\\\" recipe: $1" '
		$0 == mark { found = 1; next }
		found && $0 == ".EE" { exit }
		found && sub(/^# /, "") { gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); print; lines++ }
		END { exit !lines }' "$selftests/../Documentation/srnic.7"
}

man_recipe()
{
	local text

	text=$(man_recipe_text "$1" | sed "${3:-}") || return
	on "$2" bash -euc "$text"
}
