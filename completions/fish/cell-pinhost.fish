# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cell-pinhost(1)

complete -c cell-pinhost -f
complete -c cell-pinhost -a '(set -q CELL_PROXY_HOST; and echo $CELL_PROXY_HOST; or echo cell-proxy)'
complete -c cell-pinhost -l check -d 'Only say whether the host has exactly the address'
complete -c cell-pinhost -l remove -d 'Take the host out of the file'
complete -c cell-pinhost -l hosts -rF -d 'The hosts file'
complete -c cell-pinhost -l from -rF -d 'Take the address from a file'
complete -c cell-pinhost -l address -x -d 'The address itself'
complete -c cell-pinhost -l timeout -x -d 'Seconds to wait for the lock'
complete -c cell-pinhost -l json -d 'One record on standard output'
complete -c cell-pinhost -l quiet -d 'Nothing on standard error'
complete -c cell-pinhost -l help -d 'Print the options'
complete -c cell-pinhost -l version -d 'Print the version'
