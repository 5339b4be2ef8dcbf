#!/bin/sh
# man.sh KERNEL-MDOC PAGE [--write] - is the catalogue in the page the real one?
begin='^\.\\" begin catalogue$' end='^\.\\" end catalogue$'
if [ "$3" = --write ]; then
	new=$(mktemp) || exit 1
	{ sed "/$begin/q" "$2"; "$1"; sed -n "/$end/,\$p" "$2"; } >"$new" &&
		cat "$new" >"$2"
	rm -f "$new"
	exit
fi
sed -n "/$begin/,/$end/p" "$2" | sed '1d;$d' | diff - /dev/fd/3 3<<EOF || {
$("$1")
EOF
	echo "$2 is not the catalogue: kernel-probes/man.sh $1 $2 --write" >&2
	exit 1
}
