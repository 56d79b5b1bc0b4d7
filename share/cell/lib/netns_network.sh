# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The netns engine's network: one veth pair with a /30 of its own, and users nobody else has.

in_netns() { nsenter --net="$run/netns" -- "$@"; }

# subnet_number ADDRESS: dotted decimal as a number.
subnet_number() {
	subnet_rest=$1.
	subnet_result=0
	for subnet_octet in 1 2 3 4; do
		subnet_part=${subnet_rest%%.*}
		case $subnet_part in '' | *[!0-9]* | ????*) return 1 ;; esac
		[ "$subnet_part" -le 255 ] || return 1
		subnet_result=$((subnet_result * 256 + subnet_part))
		subnet_rest=${subnet_rest#*.}
	done
	[ -z "$subnet_rest" ]
}

address_text() { echo "$(($1 >> 24 & 255)).$(($1 >> 16 & 255)).$(($1 >> 8 & 255)).$(($1 & 255))"; }

# subnet_read: --subnet as $subnet_bits and $subnet_base.
subnet_read() {
	subnet_bits=${opt_subnet#*/}
	case $subnet_bits in '' | *[!0-9]* | ???*) return 1 ;; esac
	subnet_number "${opt_subnet%/*}" && [ "$subnet_bits" -le 30 ] && [ "$subnet_bits" -ge 8 ] || return 1
	subnet_base=$((subnet_result >> (32 - subnet_bits) << (32 - subnet_bits)))
}

# The two ends know each other's link addresses for good, the same on every pair, since each is a
# link of its own: nothing is asked and nothing runs out, on a machine out of breath either.
near_link=02:00:00:00:00:01 far_link=02:00:00:00:00:02

# The interface's name is the lock: "ip link add cellN" is atomic, and the kernel frees the name
# together with the namespace. N counts /30 networks in --subnet.
engine_network() {
	subnet_read
	cells=$((1 << (30 - subnet_bits)))
	cell_number=$((0x$CELL_TRIAL % cells))
	tries=0
	while :; do
		near=$(address_text $((subnet_base + 4 * cell_number + 1)))
		far=$(address_text $((subnet_base + 4 * cell_number + 2)))
		ip link add "cell$cell_number" address "$near_link" type veth \
			peer name eth0 address "$far_link" netns "$run/netns" 2>"$state/stderr" && break
		grep -q 'File exists' "$state/stderr" ||
			not_started network ip 111 "cannot make a veth pair: $(head -n 1 "$state/stderr")"
		tries=$((tries + 1))
		[ "$tries" -le "$cells" ] ||
			not_started network run_trial 125 "all $cells networks of $opt_subnet are taken"
		cell_number=$(((cell_number + 1) % cells))
	done
	# Somebody else's route to these addresses would be cut off, or would cut us off.
	while read -r route; do
		case $route in
		'' | default* | 0.0.0.0/* | *' dev cell'[0-9]*) ;;
		*) not_started network run_trial 125 "$opt_subnet clashes with the route: $route (see --subnet)" ;;
		esac
	done <<-END
		$(printf '%s\n' "route show match $near/30" "route show root $near/30" | ip -4 -batch -)
	END
	v6=$(printf 'fd63:656c:6c00:%x' "$cell_number")
	{
		printf '%s\n' "address add $near/30 dev cell$cell_number" "link set cell$cell_number up" \
			"neighbour replace $far lladdr $far_link dev cell$cell_number nud permanent" |
			ip -batch - && engine_far_end
	} 2>"$state/stderr" ||
		not_started network ip 111 "cannot set up the veth pair: $(head -n 1 "$state/stderr")"
	# IPv6 only so that its way out can be shown open before the policy; nodad: at once.
	[ -e "$run/v6" ] && printf '%s\n' "address add $v6::1/64 dev cell$cell_number nodad" \
		"neighbour replace $v6::2 lladdr $far_link dev cell$cell_number nud permanent" |
		ip -6 -batch - 2>/dev/null || v6=
	proxy_address=$near
	engine_users
}

# engine_far_end: the cell's end of the veth pair, by one shell in there. $run/v6: it has IPv6.
# Ping sockets for everybody, as container engines do it: else ICMP could not be shown open.
# A packet that waits for a neighbour keeps its socket, and with it the namespace: 3 s by default.
engine_far_end() {
	printf '%s\n' 'link set lo up' "address add $far/30 dev eth0" 'link set eth0 up' \
		"neighbour replace $near lladdr $near_link dev eth0 nud permanent" |
		in_netns sh -c 'ip -batch - || exit
		echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range
		for family in ipv4 ipv6; do
			cd "/proc/sys/net/$family/neigh/eth0" 2>/dev/null || continue
			echo 1 >mcast_solicit && echo 100 >retrans_time_ms
		done
		# Mounted in here, /sys shows these interfaces, not those of the machine and their traffic.
		mkdir -m 0755 "$3"
		mount -t sysfs -o ro,nosuid,nodev,noexec cell-sys "$3" 2>/dev/null || rmdir "$3"
		printf "%s\n" "address add $1::2/64 dev eth0 nodad" \
			"neighbour replace $1::1 lladdr $4 dev eth0 nud permanent" |
			ip -6 -batch - 2>/dev/null && : >"$2" || :' \
		sh "$v6" "$run/v6" "$run/sys" "$near_link"
}

# user_read: --user as $subject_uid and $subject_gid, both empty without it; 1 with $user_fault.
user_read() {
	subject_uid=${opt_user%%:*} subject_gid=
	case $opt_user in *:*) subject_gid=${opt_user#*:} ;; esac
	case $subject_uid in
	*[!0-9]*)
		user_fault="there is no user $opt_user"
		subject_gid=${subject_gid:-$(id -g -- "$subject_uid" 2>/dev/null || :)}
		subject_uid=$(id -u -- "$subject_uid" 2>/dev/null) || return 1
		;;
	esac
	subject_gid=${subject_gid:-$subject_uid}
	user_fault="--user $opt_user is not a user, UID or UID:GID"
	case $subject_gid in *[!0-9]*) return 1 ;; esac
	[ -z "$opt_user" ] || [ -n "$subject_uid" ]
}

# Users that no other process has: the number follows the cell's, which nobody else holds.
engine_users() {
	proxy_uid=$((2000100000 + cell_number))
	user_read || not_started user run_trial 100 "$user_fault"
	subject_uid=${subject_uid:-$((2000000000 + cell_number))}
	subject_gid=${subject_gid:-$subject_uid}
	subject_user=${opt_user:-$subject_uid}
	[ -n "$opt_user" ] || [ -z "$(find /proc -maxdepth 1 -uid "$subject_uid" -name '[0-9]*' 2>/dev/null)" ] ||
		not_started user run_trial 125 "uid $subject_uid has processes already"
}
