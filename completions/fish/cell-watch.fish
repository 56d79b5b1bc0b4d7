# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cell-watch(1)

complete -c cell-watch -f
complete -c cell-watch -l group -x -d 'The NFLOG group'
complete -c cell-watch -l table -x -d 'The table of the policy'
complete -c cell-watch -l log -rF -d 'Append the records to a file'
complete -c cell-watch -l max-bytes -x -d 'Bound of the log'
complete -c cell-watch -l max-rate -x -d 'Packets recorded in each second'
complete -c cell-watch -l ready-fd -x -d 'Descriptor that hears when the group is bound'
complete -c cell-watch -l follow -rF -d 'Print a log for people'
complete -c cell-watch -l json -d 'The closing report as a record'
complete -c cell-watch -l quiet -d 'Nothing on standard error'
complete -c cell-watch -l help -d 'Print the options'
complete -c cell-watch -l version -d 'Print the version'
