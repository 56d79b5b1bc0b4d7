# SPDX-License-Identifier: GPL-2.0-or-later
set -l names all-bypass unknown audit_control audit_read audit_write block_suspend bpf \
	checkpoint_restore chown dac_override dac_read_search fowner fsetid ipc_lock ipc_owner \
	kill lease linux_immutable mac_admin mac_override mknod net_admin net_bind_service \
	net_broadcast net_raw perfmon setfcap setgid setpcap setuid sys_admin sys_boot sys_chroot \
	sys_module sys_nice sys_pacct sys_ptrace sys_rawio sys_resource sys_time sys_tty_config \
	syslog wake_alarm
set -l added +$names
complete -c cell-capcheck -f
complete -c cell-capcheck -l pid -x -a '(__fish_complete_pids)' -d 'Judge that process'
complete -c cell-capcheck -l status -r -F -d 'Judge the text of a status file'
complete -c cell-capcheck -l deny -x -a "(__fish_append , $names) $added" -d 'Refuse these instead; +CAP adds'
complete -c cell-capcheck -l allow -x -a "$names" -d 'Do not refuse this one'
complete -c cell-capcheck -l json -d 'One record on standard output'
complete -c cell-capcheck -l quiet -d 'Nothing on standard error'
complete -c cell-capcheck -l help -d 'Print the options'
complete -c cell-capcheck -l version -d 'Print the version'
