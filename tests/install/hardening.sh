#!/bin/sh
# Every installed program and library: RELRO, bound at start, no executable
# stack, no text relocations, no run path but a program's or the Python module's
# to the libraries that are installed with it; programs are position independent
# and call the stack guard.
. "$TNF_SOURCE/tests/install/stage.sh"
rc=0
bad() { echo "FAIL: ${1#"$PREFIX"/}: $2"; rc=1; }

for f in $(elf_files); do
	case $f in *.o|*.a) continue ;; esac
	seg=$(readelf -lW "$f")
	dyn=$(readelf -dW "$f")
	echo "$seg" | grep -q GNU_RELRO || bad "$f" "no RELRO"
	echo "$dyn" | grep -Eq 'BIND_NOW|FLAGS.* NOW' || bad "$f" "symbols are bound lazily"
	echo "$seg" | grep -q 'GNU_STACK.* RWE' && bad "$f" "executable stack"
	echo "$seg" | grep -q 'LOAD.* RWE' && bad "$f" "segment writable and executable"
	echo "$dyn" | grep -q TEXTREL && bad "$f" "text relocations"
	path=$(echo "$dyn" | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]$/\2/p')
	case $f:$path in
	*:)	;;
	*/bin/*:'$ORIGIN'/* | */sbin/*:'$ORIGIN'/* | *-packages/*:'$ORIGIN'/*)
		[ "$(realpath "$(dirname "$f")${path#'$ORIGIN'}")" = "$(realpath "$LIBDIR")" ] ||
			bad "$f" "run path $path does not lead to $LIBDIR" ;;
	*)	bad "$f" "run path $path" ;;
	esac
	readelf -hW "$f" | grep -q 'Type:.*DYN' || bad "$f" "not position independent"
	case $f in
	*/bin/* | */sbin/*)
		readelf -sW --dyn-syms "$f" | grep -q __stack_chk_fail ||
			bad "$f" "no stack guard" ;;
	esac
	mode=$(stat -c %a "$f")
	case $mode in *[2367][0-9]|*[2367]|[2467]???) bad "$f" "mode $mode" ;; esac
done
n=$(elf_files | wc -l)
echo "$n files looked at"
set -- ${TNF_TOOLS:-prex tnfdump tnfxtract}
[ "$n" -ge $((3 + $#)) ] || bad . "only $n ELF files installed"
exit $rc
