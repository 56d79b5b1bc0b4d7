# SPDX-License-Identifier: GPL-2.0-or-later
complete -c cell-nsid -n 'not __fish_contains_opt same' -f
complete -c cell-nsid -n '__fish_contains_opt same' -F -a '(__fish_complete_pids)'
complete -c cell-nsid -l pid -x -a '(__fish_complete_pids)' -d 'The namespace of that process'
complete -c cell-nsid -l file -r -F -d 'The namespace that this file is a handle of'
complete -c cell-nsid -l cookie -d 'Its cookie too'
complete -c cell-nsid -l same -d 'Compare namespaces'
complete -c cell-nsid -l json -d 'One record on standard output'
complete -c cell-nsid -l quiet -d 'Nothing on standard error'
complete -c cell-nsid -l help -d 'Print the options'
complete -c cell-nsid -l version -d 'Print the version'
