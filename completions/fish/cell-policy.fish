# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cell-policy(1)

set -l verbs show rules deny-all allow allow-all check
complete -c cell-policy -f
complete -c cell-policy -n "not __fish_seen_subcommand_from $verbs" -a "$verbs"
complete -c cell-policy -n '__fish_seen_subcommand_from allow check' \
	-a '(set -q CELL_PROXY_HOST; and echo $CELL_PROXY_HOST; or echo cell-proxy)'
complete -c cell-policy -l subject -rF -a '(__fish_complete_pids)' -d 'Only if that is this network namespace'
complete -c cell-policy -l refuse -x -d 'Refuse this resolver too'
complete -c cell-policy -l resolv-conf -rF -d 'At first, refuse the loopback nameservers of a file'
complete -c cell-policy -l wait -x -d 'allow: seconds to wait for the address'
complete -c cell-policy -l log-group -x -a none -d 'NFLOG group of refused packets'
complete -c cell-policy -l generation -x -d 'check: the generation number that must still be'
complete -c cell-policy -l table -x -d 'The name of the table'
complete -c cell-policy -l allow-hardware -d 'Police a namespace with hardware too'
complete -c cell-policy -l dry-run -d 'Print the ruleset and change nothing'
complete -c cell-policy -l json -d 'One record on standard output'
complete -c cell-policy -l quiet -d 'Nothing on standard error'
complete -c cell-policy -l help -d 'Print the options'
complete -c cell-policy -l version -d 'Print the version'
