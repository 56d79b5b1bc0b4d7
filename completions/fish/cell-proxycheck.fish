# SPDX-License-Identifier: GPL-2.0-or-later
complete -c cell-proxycheck -f -a 'https://'
complete -c cell-proxycheck -l proxy -x -d 'The proxy, HOST:PORT'
complete -c cell-proxycheck -l timeout -x -d 'Seconds for everything together'
complete -c cell-proxycheck -l json -d 'One JSON object on standard output'
complete -c cell-proxycheck -l quiet -d 'Nothing on standard error'
complete -c cell-proxycheck -l help -d 'Print the options'
complete -c cell-proxycheck -l version -d 'Print the version'
