#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The completions, in the three shells for real: options, verbs, pids, capabilities, values.
# needs: bash zsh fish
. "$(dirname "$0")/../lib/cell_test.sh"

# What each line must become; the same in all three shells.
cat >"$work/cases" <<'EOF'
cell-capcheck --st|cell-capcheck --status
cell-capcheck --allow net_r|cell-capcheck --allow net_raw
cell-capcheck --deny all-b|cell-capcheck --deny all-bypass
cell-capcheck --deny +sys_ti|cell-capcheck --deny +sys_time
cell-nsid --coo|cell-nsid --cookie
cell-pinhost --rem|cell-pinhost --remove
cell-pinhost cell-pr|cell-pinhost cell-proxy
cell-policy allow cell-pr|cell-policy allow cell-proxy
cell-policy deny|cell-policy deny-all
cell-policy --allow|cell-policy --allow-hardware
cell-policy sho|cell-policy show
cell-probe --comp|cell-probe --compare
cell-probe --expect clo|cell-probe --expect closed
cell-probe family:qip|cell-probe family:qipcrtr
cell-probe call:io|cell-probe call:io_uring
cell-proxycheck --pro|cell-proxycheck --proxy
cell-publish --netw|cell-publish --network
cell-publish --port 1 -- unshar|cell-publish --port 1 -- unshare
cell-watch --fol|cell-watch --follow
cell-exec --print|cell-exec --print-filter
cell-exec --caps k|cell-exec --caps keep
cell-exec --allow pidfd|cell-exec --allow pidfd_getfd
cell-exec --user 1:1 -- unshar|cell-exec --user 1:1 -- unshare
run_trial --bind /tmp -- unshar|run_trial --bind /tmp -- unshare
run_trial --engine c|run_trial --engine compose
run_trial --setup|run_trial --setup-timeout
EOF

# What bash's function offers for the line's last word, one a line.
bash_offers() {
	bash --norc -c '
		compopt() { :; } # only known inside a completion that the editor started
		source "$1"
		read -ra COMP_WORDS <<<"$2"
		[[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
		name=$(complete -p "${COMP_WORDS[0]}" | sed "s/.*-F \([^ ]*\).*/\1/")
		"$name" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}" | sort -u' bash "$top/completions/bash/${1%% *}" "$1"
}

test_bash_completes_options_verbs_and_values() {
	while IFS='|' read -r line whole; do
		assertEquals "$line" "${whole##* }" "$(bash_offers "$line" | sed 's/ *$//')"
	done <"$work/cases"
}

test_zsh_completes_options_verbs_and_values() {
	cut -d '|' -f 1 "$work/cases" >"$work/lines"
	"$top/tests/lib/zsh_complete.py" "$top/completions/zsh" <"$work/lines" >"$work/completed"
	assertEquals 'zsh answered' 0 $?
	cut -d '|' -f 2 "$work/cases" >"$work/expected"
	sed -i 's/[=, ]*$//' "$work/completed"
	assertEquals "$(cat "$work/expected")" "$(cat "$work/completed")"
}

test_fish_completes_options_verbs_and_values() {
	while IFS='|' read -r line whole; do
		offered=$(HOME=$work fish --no-config -c "source $top/completions/fish/${line%% *}.fish
			complete -C '$line'" | cut -f 1 | sort -u)
		printf '%s\n' "$offered" | grep -qxF -- "${whole##* }"
		assertEquals "$line offers ${whole##* } among: $offered" 0 $?
	done <"$work/cases"
}

test_pids_are_offered() {
	bash_offers 'cell-capcheck --pid ' | grep -qx $$
	assertEquals 'bash' 0 $?
	HOME=$work fish --no-config -c "source $top/completions/fish/cell-capcheck.fish
		complete -C 'cell-capcheck --pid '" | cut -f 1 | grep -qx $$
	assertEquals 'fish' 0 $?
}

test_the_subjects_own_words_are_not_ours() {
	assertNotContains "$(bash_offers 'run_trial -- ls --')" --setup-timeout
	assertNotContains "$(bash_offers 'cell-exec -- ls --')" --print-filter
}

. "$CELL_TEST_SHUNIT2"
