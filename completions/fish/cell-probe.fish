# SPDX-License-Identifier: GPL-2.0-or-later
complete -c cell-probe -n 'not __fish_contains_opt compare' -f -a 'tcp:// udp:// dns:// dns+tcp:// icmp:// unix: name: http+proxy:// loopback: policy: call:request_key call:pidfd_getfd call:bpf call:io_uring call:unshare'
set -l families alg appletalk ax25 bluetooth caif can ib ieee802154 ipx kcm key llc mctp netrom nfc packet phonet pppox qipcrtr rds rose smc tipc vsock x25 xdp
complete -c cell-probe -n 'not __fish_contains_opt compare' -f -a "family:"(string join " family:" $families)
complete -c cell-probe -n '__fish_contains_opt compare' -F
complete -c cell-probe -l expect -x -a 'open closed' -d 'All must be open, or all closed'
complete -c cell-probe -l timeout -x -d 'Seconds for the whole run'
complete -c cell-probe -l targets -r -F -d 'A list of targets, - for standard input'
complete -c cell-probe -l define -x -a 'name= sibling= outside= resolver=' -d 'What a placeholder stands for'
complete -c cell-probe -l dry-run -d 'Read the targets, try none'
complete -c cell-probe -l compare -d 'Judge the records of two runs'
complete -c cell-probe -l json -d 'One JSON object a target'
complete -c cell-probe -l quiet -d 'Nothing on standard error'
complete -c cell-probe -l help -d 'Print the options'
complete -c cell-probe -l version -d 'Print the version'
