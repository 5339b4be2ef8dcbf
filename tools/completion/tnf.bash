# tnf.bash - completion for prex, tnfdump, tnfxtract and tnfwatch in bash.
#
# Options are taken from what the programs themselves say to --help, so that
# nothing has to be kept up to date here.

# The options in the help text: lines that begin with one, up to two blanks.
_tnf_options()
{
	"$1" --help 2>/dev/null |
		sed -n 's/^[[:space:]]*\(-.*\)/\1/p' |
		sed 's/[[:space:]]\{2,\}.*//' |
		grep -oE -e '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,'
}

# Does this option take a word?  "-o FILE", "-o, --output FILE", "-o <file>"
_tnf_takes_word()
{
	"$1" --help 2>/dev/null |
		grep -qE -e "^[[:space:]]*(-[A-Za-z], )?$2(, --[a-z-]+)? [<A-Z]"
}

_tnf_formats()
{
	"$1" --help 2>/dev/null |
		sed -n '/^Formats of --to:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_tnf_columns()
{
	echo all
	"$1" --help 2>/dev/null |
		sed -n '/^Columns of --columns:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

_tnf_words()
{
	local IFS=$'\n'
	COMPREPLY=( $(compgen -W "$1" -- "$cur") )
}

# The last of words with commas, each with a sign in front or not.
_tnf_list()
{
	local done=$1 word=$2
	if [[ $word == *,* ]]; then
		done+=${word%,*},
		word=${word##*,}
	fi
	[[ $word != [+-]* ]] || done+=${word:0:1}
	_tnf_words "$(sed "s/^/$done/" <<< "$3")"
}

_tnf_files()
{
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	COMPREPLY=( $(compgen -f -- "$cur") )
}

# Which word is the program that prex starts?  0: there is none yet.
_tnf_prex_program()
{
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) echo $((i + 1)); return ;;
		-*) _tnf_takes_word "$1" "${COMP_WORDS[i]}" && ((i++)) ;;
		*) echo $i; return ;;
		esac
	done
	echo 0
}

_tnf_prex()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	local program=$(_tnf_prex_program "$1")

	COMPREPLY=()
	if ((program > 0 && program < COMP_CWORD)); then
		_tnf_files
		return
	fi
	case $prev in
	-p) _tnf_words "$(ps -eo pid= | tr -d ' ')"; return ;;
	-o|-f) _tnf_files; return ;;
	-c|-l|-s) return ;;
	esac
	case $cur in
	-*) _tnf_words "$(_tnf_options "$1")" ;;
	*/*) _tnf_files ;;
	*) COMPREPLY=( $(compgen -c -- "$cur") ) ;;
	esac
}

_tnf_other()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}

	COMPREPLY=()
	# "--to=js" comes as three words, or, to some, as one.
	if [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	elif [[ $cur == = ]]; then
		cur=
	fi
	if [[ $cur == --to=* ]]; then
		_tnf_words "$(_tnf_formats "$1" | sed 's/^/--to=/')"
	elif [[ $cur == --columns=* ]]; then
		_tnf_list --columns= "${cur#--columns=}" "$(_tnf_columns "$1")"
	elif [[ $prev == --to ]]; then
		_tnf_words "$(_tnf_formats "$1")"
	elif [[ $prev == --columns ]]; then
		_tnf_list "" "$cur" "$(_tnf_columns "$1")"
	elif [[ $cur == -* ]]; then
		_tnf_words "$(_tnf_options "$1")"
	else
		_tnf_files
	fi
}

_tnf_commands()
{
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

_tnf_watch()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}

	COMPREPLY=()
	case $prev in
	-c|--config) _tnf_files; return ;;
	esac
	case $cur in
	-*) _tnf_words "$(_tnf_options "$1")" ;;
	*/*) _tnf_files ;;
	*) _tnf_words "$(_tnf_commands "$1")" ;;
	esac
}

complete -F _tnf_prex prex
complete -F _tnf_watch tnfwatch
complete -F _tnf_other tnfdump tnfxtract
