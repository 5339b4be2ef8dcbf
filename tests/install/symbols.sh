#!/bin/sh
# A stray "list_add" in a library that is loaded into strangers' programs is a
# bug in those programs: each library exports its own prefix alone.  Of an archive a
# linker sees every name that its files share, hidden or not: all of them begin with a
# prefix of ours, so that a program may have any other.
. "$TNF_SOURCE/tests/install/stage.sh"

# libtnfprobe also stands in front of prctl, after which a thread must not trace, and of
# pthread_setname_np, after which it has another name.
prefix_of() {
	case $1 in
	libtnfprobe.*) echo '^_?_?tnfw?_|^prctl$|^pthread_setname_np$' ;;
	libtnfotel.*) echo '^tnf_otel_|^otel_thread_ctx_v1$' ;;
	libtnfctl.*) echo '^_?tnfctl_' ;;
	libtnf.*) echo '^tnf_' ;;
	archive) echo '^_?(tnf|tnfctl|kp)_' ;;
	*) echo '^$' ;;
	esac
}

rc=0 n=0
for lib in $(elf_files -name 'lib*.so.*'); do
	n=$((n + 1))
	names=$(nm -D --defined-only "$lib" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }')
	[ -n "$names" ] || { echo "FAIL: $(basename "$lib") exports nothing"; rc=1; }
	bad=$(echo "$names" | grep -Ev "$(prefix_of "$(basename "$lib")")")
	[ -z "$bad" ] || { echo "FAIL: $(basename "$lib") exports foreign names:" $bad; rc=1; }
	readelf -d "$lib" | grep -q 'SONAME.*\.so\.1\]' ||
		{ echo "FAIL: $(basename "$lib"): soname is not .so.1"; rc=1; }
done
for lib in libtnf libtnfprobe libtnfotel libtnfctl; do
	[ -n "$(find "$PREFIX" -name "$lib.so.1")" ] || { echo "FAIL: no $lib.so.1"; rc=1; }
	archive=$(find "$PREFIX" -name "$lib.a")
	[ -n "$archive" ] || { echo "FAIL: no $lib.a"; rc=1; continue; }
	bad=$(nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' |
		grep -Ev "$(prefix_of "$lib.a")|$(prefix_of archive)")
	[ -z "$bad" ] || { echo "FAIL: $lib.a defines foreign names:" $bad; rc=1; }
done
# The files of the machines that this is not: what their functions are called.  A name
# stands in the first column, behind a line with its type.
for machine in libtnfctl/arch kernel-probes/arch libtnfprobe/arch; do
	bad=$(find "$TNF_SOURCE/$machine" -name '*.c' -exec awk '/^[a-z_0-9]+\(/ && before !~ /^static/ {
		sub(/\(.*/, ""); print } { before = $0 }' {} + | grep -Ev "$(prefix_of archive)")
	[ -z "$bad" ] || { echo "FAIL: $machine defines foreign names:" $bad; rc=1; }
done
echo "$n libraries looked at"
exit $rc
