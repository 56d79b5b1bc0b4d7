# SPDX-License-Identifier: GPL-2.0-or-later
set -l names \
	add_key alg appletalk atmpvc atmsvc ax25 bluetooth bpf caif can clone clone3 core-helper \
	delete_module finit_module fsconfig fsmount fsopen fspick ib ieee802154 init_module \
	io_uring_enter io_uring_register io_uring_setup ipx isdn iucv kcm kexec_file_load \
	kexec_load key keyctl llc mctp mount mount_setattr move_mount mpls netlink netrom \
	new-privileges nfc open_by_handle_at open_tree open_tree_attr other-processes packet \
	perf_event_open phonet pidfd_getfd pivot_root pppox process_vm_readv \
	process_vm_writev qipcrtr rds request_key rose rxrpc setns smc socketcall tioclinux \
	tiocsti tipc umount umount2 unshare userfaultfd vsock x25 xdp
# Options with a value, so that the value is not taken for PROGRAM; "-" ends the function's own.
complete -c cell-exec -x -a '(__fish_complete_subcommand - --user --caps --allow --print-filter)'
complete -c cell-exec -l user -x -d 'Run as these ids, UID:GID'
complete -c cell-exec -l caps -x -a 'none keep' -d 'Which capabilities stay'
complete -c cell-exec -l allow -x -a "$names" -d 'Open one refused call or family'
complete -c cell-exec -l keep-session -d 'Make no session of its own, keep the terminal'
complete -c cell-exec -l unprivileged -d 'Started by an ordinary user'
complete -c cell-exec -l print-filter -x -a json -d 'Print the filter as a profile'
complete -c cell-exec -l json -d 'Failures as one JSON record'
complete -c cell-exec -l quiet -d 'Nothing on standard error'
complete -c cell-exec -l help -d 'Print the options'
complete -c cell-exec -l version -d 'Print the version'
