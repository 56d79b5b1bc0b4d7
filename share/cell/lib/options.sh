# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# run_trial's command line. Strict like the other tools': no abbreviation, nothing twice, nothing
# empty. Every value is exported as opt_NAME, since lib/trial.sh is a program of its own.

options_help() {
	cat <<'EOF'
usage: run_trial [OPTION]... [--] COMMAND [ARG]...
       run_trial --sweep
Runs COMMAND in a sealed cell and keeps the evidence.

  -o, --out DIR            where the evidence goes (default ./trials/UTC-ID; must not exist)
  -t, --timeout S          the subject's time, seconds (default: none)
      --setup-timeout S    time for everything before it (default 60)
      --grace S            from TERM to KILL (default 10)
  -e, --engine ENGINE      netns (default) or compose
  -u, --user USER          who the subject is: name, UID or UID:GID (default: a uid of its own)
  -E, --env NAME[=VALUE]   give it this variable; may be repeated
  -C, --chdir DIR          its work directory, writable (default: this directory)
      --bind SRC[:DST[:ro]] bind this path into the cell; may be repeated
      --closed TARGET      must be open before the seal and closed after; may be repeated
      --open TARGET        a URL that must work through the proxy, or a target that must stay
                           open; may be repeated
      --addon FILE         a mitmproxy addon, loaded after the audit; may be repeated
      --proxy-arg ARG      one more argument for mitmdump; may be repeated
      --before COMMAND     run by sh in the cell's network, with our rights, before the seal: what
                           it starts there lives as long as the cell
      --after COMMAND      a verifier: run by sh in the cell after the subject, seal still on
      --after-timeout S    the verifier's time, seconds (default: the subject's)
  -i, --interactive        keep the terminal; output is not captured
      --keep               leave the cell up until Enter or a signal
      --subnet CIDR        netns: addresses for the cells (default 198.18.0.0/15)
  -f, --file FILE          compose: the user's compose file; may be repeated
      --service NAME       compose: the subject's service (default main)
      --project-name NAME  compose: the project (default cell-ID)
      --sweep              compose: remove what dead trials left
  -q, --quiet              only errors
      --help
      --version

Exit status: the subject's own (128+n for a signal), 124 its time ran out, 125 no subject ran,
122 a subject ran but nothing is proven, 128+n interrupted, 100 called wrongly.
EOF
}

options_seen=,
# option_once NAME: refuses the second use.
option_once() {
	case $options_seen in
	*",$1,"*) usage_error "option --$1 is given twice" ;;
	esac
	options_seen="$options_seen$1,"
}

# add_line VARIABLE VALUE: appends a line; a value with a newline in it can't be kept in one.
add_line() {
	case $2 in
	*"
"*) usage_error "a value may not hold a newline: $2" ;;
	esac
	eval "$1=\"\${$1}\$2
\""
}

need_seconds() {
	case $2 in
	'' | . | *[!0-9.]* | *.*.* | .* | *.) usage_error "--$1 $2 is not a number of seconds" ;;
	esac
	case $1$2 in
	grace*) ;; # 0: killed at once
	*[1-9]*) ;;
	*) usage_error "--$1 $2 leaves no time at all" ;;
	esac
	[ "${#2}" -le 12 ] || usage_error "--$1 $2 is not a number of seconds"
}

# One option that takes a value.
option_value() {
	[ -n "$2" ] || usage_error "option --$1 has an empty value"
	case $1 in
	env | bind | closed | open | addon | proxy-arg | file) ;;
	*) option_once "$1" ;;
	esac
	case $1 in
	out) opt_out=$2 ;;
	timeout) need_seconds "$1" "$2" && opt_timeout=$2 ;;
	setup-timeout) need_seconds "$1" "$2" && opt_setup_timeout=$2 ;;
	grace) need_seconds "$1" "$2" && opt_grace=$2 ;;
	engine)
		case $2 in
		netns | compose) opt_engine=$2 ;;
		*) usage_error "--engine $2 is neither netns nor compose" ;;
		esac
		;;
	user) opt_user=$2 ;;
	env) option_env "$2" ;;
	chdir) opt_chdir=$2 ;;
	bind) add_line opt_bind "$2" ;;
	closed) add_line opt_closed "$2" ;;
	open) add_line opt_open "$2" ;;
	addon)
		[ -r "$2" ] || usage_error "cannot read addon $2"
		add_line opt_addon "$(readlink -f -- "$2")"
		;;
	proxy-arg) add_line opt_proxy_arg "$2" ;;
	before) opt_before=$2 ;;
	after) opt_after=$2 ;;
	after-timeout) need_seconds "$1" "$2" && opt_after_timeout=$2 ;;
	subnet) opt_subnet=$2 ;;
	file)
		[ -r "$2" ] || usage_error "cannot read compose file $2"
		add_line opt_file "$(readlink -f -- "$2")"
		;;
	service) opt_service=$2 ;;
	project-name) opt_project_name=$2 ;;
	esac
}

# NAME or NAME=VALUE. The value travels as an exported variable, never as an argument of a process.
option_env() {
	env_name=${1%%=*}
	case $env_name in
	'' | [0-9]* | *[!A-Za-z0-9_]*) usage_error "--env $env_name is not a variable's name" ;;
	esac
	case $1 in
	*=*) env_value=${1#*=} ;;
	*)
		env_value=$(printenv "$env_name" && echo .) || usage_error "--env $env_name is not set here"
		env_value=${env_value%
.}
		;;
	esac
	opt_env="$opt_env$env_name "
	export "cell_env_$env_name=$env_value"
}

option_flag() {
	option_once "$1"
	case $1 in
	interactive) opt_interactive=1 ;;
	keep) opt_keep=1 ;;
	sweep) opt_sweep=1 ;;
	quiet) opt_quiet=1 ;;
	help)
		options_help
		exit 0
		;;
	version)
		echo "run_trial $(version)"
		exit 0
		;;
	esac
}

version() {
	version=$("$cell_bin/cell-nsid" --version)
	echo "${version##* }"
}

options_parse() {
	opt_out='' opt_timeout='' opt_setup_timeout=60 opt_grace=10 opt_engine=netns opt_user=''
	opt_env='' opt_chdir='' opt_bind='' opt_closed='' opt_open='' opt_addon='' opt_proxy_arg=''
	opt_before='' opt_after='' opt_after_timeout='' opt_interactive='' opt_keep='' opt_sweep='' opt_quiet='' opt_file=''
	opt_subnet=198.18.0.0/15 opt_service=main opt_project_name=''
	options_count=$#
	while [ $# -gt 0 ]; do
		case $1 in
		--)
			shift
			break
			;;
		--out | --timeout | --setup-timeout | --grace | --engine | --user | --env | --chdir | \
			--bind | --closed | --open | --addon | --proxy-arg | --before | --after | --after-timeout | \
			--subnet | --file | \
			--service | --project-name | -o | -t | -e | -u | -E | -C | -f)
			[ $# -gt 1 ] || usage_error "option $1 needs a value"
			option_value "$(option_name "$1")" "$2"
			shift
			;;
		--out=* | --timeout=* | --setup-timeout=* | --grace=* | --engine=* | --user=* | --env=* | \
			--chdir=* | --bind=* | --closed=* | --open=* | --addon=* | --proxy-arg=* | \
			--before=* | --after=* | --after-timeout=* | --subnet=* | --file=* | --service=* | --project-name=*)
			option_name=${1%%=*}
			option_value "${option_name#--}" "${1#*=}"
			;;
		--interactive | --keep | --sweep | --quiet | --help | --version | -i | -q)
			option_flag "$(option_name "$1")"
			;;
		-?*) usage_error "unknown option $1 (see --help)" ;;
		*) break ;;
		esac
		shift
	done
	# shellcheck disable=SC2034 # run_trial shifts by it
	options_used=$((options_count - $#))
	[ -z "$opt_keep" ] || [ -z "$opt_quiet" ] || usage_error "--keep needs its words: not with --quiet"
	: "${opt_after_timeout:=$opt_timeout}"
	export opt_timeout opt_after_timeout opt_setup_timeout opt_grace opt_engine opt_user opt_env opt_chdir opt_bind \
		opt_closed opt_open opt_addon opt_proxy_arg opt_before opt_after opt_interactive opt_keep opt_quiet \
		opt_file opt_subnet opt_service opt_project_name
}

# The long name of an option, without dashes.
option_name() {
	case $1 in
	-o) echo out ;;
	-t) echo timeout ;;
	-e) echo engine ;;
	-u) echo user ;;
	-E) echo env ;;
	-C) echo chdir ;;
	-f) echo file ;;
	-i) echo interactive ;;
	-q) echo quiet ;;
	*) echo "${1#--}" ;;
	esac
}
