# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cell-publish(1)

complete -c cell-publish -f
complete -c cell-publish -a '(__fish_complete_subcommand - --state --dir --address --interface --network --port --ca-name --timeout)' -d 'Program to become'
complete -c cell-publish -l state -x -a '(__fish_complete_directories)' -d 'Private directory of the authority'
complete -c cell-publish -l dir -x -a '(__fish_complete_directories)' -d 'Published directory'
complete -c cell-publish -l address -x -d 'Publish this IPv4 address'
complete -c cell-publish -l interface -x -a '(command ls /sys/class/net)' -d 'Publish the address of this interface'
complete -c cell-publish -l network -x -d 'Publish the address inside this network'
complete -c cell-publish -l port -x -d 'The port of the proxy'
complete -c cell-publish -l ca-name -x -d 'Common name of a new authority'
complete -c cell-publish -l renew -d 'Make a new authority'
complete -c cell-publish -l check -d 'Tell the health'
complete -c cell-publish -l connect -d 'The port must accept'
complete -c cell-publish -l timeout -x -d 'Seconds to wait for the connection'
complete -c cell-publish -l json -d 'One record on standard output'
complete -c cell-publish -l quiet -d 'Nothing on standard error'
complete -c cell-publish -l help -d 'Print the options'
complete -c cell-publish -l version -d 'Print the version'
