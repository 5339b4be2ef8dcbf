#!/bin/sh
# kernel.sh PREX TNFXTRACT TNFDUMP BUFFER - snapshots of a kernel that is traced.
. "${TNF_SOURCE:?}/tests/lib.sh"
prex=$(realpath "$1") tnfxtract=$(realpath "$2") tnfdump=$(realpath "$3") buffer=$(realpath "$4")
need_kernel
scratch
cd "$TMP" || exit 1
load=
undo() {
	[ -z "$load" ] || kill $load 2>/dev/null
	printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k >/dev/null 2>&1
	umount "$TMP/small" 2>/dev/null
	rm -rf "$TMP"
}
trap undo EXIT
prex_k() {
	"$prex" -k >prex.out 2>&1 || fail "prex -k: $(cat prex.out)"
}

# Without a buffer.
"$tnfxtract" x 2>err && fail "extracted nothing"
grep -q 'No trace data available in the kernel.' err || fail "$(cat err)"
[ ! -e x ] || fail "left a file"

# Under full load: whole, clean, of the buffer's size, several at once.
size=$((16 << 20))
prex_k <<EOF
buffer alloc 16m
trace syscall
enable syscall
ktrace on
EOF
dd if=/dev/zero of=/dev/null bs=1 2>/dev/null & load=$!
dd if=/dev/zero of=/dev/null bs=1 2>/dev/null & load="$load $!"
loaded() { "$tnfxtract" --no-context b 2>>lost && [ "$("$tnfdump" b 2>/dev/null | grep -c syscall)" -gt 10000 ]; }
wait_for 120 loaded || fail "no load: $(cat lost)"
for i in 1 2 3 4 5; do
	"$tnfxtract" a 2>>lost & a=$!
	"$tnfxtract" --no-context b 2>>lost & b=$!
	wait $a || fail "extract: $(cat lost)"
	wait $b || fail "extract: $(cat lost)"
	for f in a b; do
		"$tnfdump" $f >dump 2>err || fail "tnfdump: $(head -3 err)"
		[ ! -s err ] || fail "tnfdump: $(head -3 err)"
		[ "$(grep -c syscall dump)" -gt 10000 ] ||
			fail "only $(wc -l <dump) lines"
	done
	[ "$(stat -c %s b)" -eq $size ] || fail "size $(stat -c %s b)"
done
grep -aq "TNFCTX 1" a || fail "no context"
grep -aq "^host $(uname -n)$" a || fail "no host in the context"
grep -aq "^task [0-9]* [0-9]* [0-9]* dd$" a || fail "no dd in the context"

# One after the other, by what was recorded, of which the latest are kept; a later run goes on
# behind the last number.
"$tnfxtract" --no-context --rotate-size 1m --keep 2 turn 2>>lost & turns=$!
wait_for 120 test -e turn.4 || fail "no fourth copy: $(ls) $(cat lost)"
kill -TERM $turns
wait $turns || fail "copies in turn: $(cat lost)"
# shellcheck disable=SC2012	# names of ours
last=$(ls turn.* | sed 's/.*[.]//' | sort -n | tail -n 1)
[ "$(echo turn.*)" = "$(printf 'turn.%s\n' $((last - 1)) "$last" | sort | tr '\n' ' ' | sed 's/ $//')" ] ||
	fail "kept: $(echo turn.*)"
"$tnfdump" turn.* >dump 2>err && [ "$(grep -c syscall dump)" -gt 10000 ] || fail "tnfdump turn.*: $(head -n 3 err)"
"$tnfxtract" --no-context --rotate-time 1 --keep 2 turn 2>>lost & turns=$!
wait_for 120 test -e turn.$((last + 1)) || fail "no copy by time: $(ls) $(cat lost)"
kill -INT $turns
wait $turns || fail "copies in time: $(cat lost)"

# While somebody reads the buffer cannot go.
mkfifo pipe
"$tnfxtract" - >pipe 2>/dev/null & reader=$!
exec 3<pipe
head -c 1 <&3 >first
[ -s first ] || fail "nothing to read"
printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k >prex.out 2>&1
grep -q 'Device busy' prex.out || fail "dealloc: $(cat prex.out)"
exec 3<&-
wait $reader
printf 'ktrace on\n' | prex_k

# The buffer's pages in a memory image, in any order, tell the same.
printf 'ktrace off\n' | prex_k
"$tnfxtract" --no-context live 2>/dev/null || fail "extract"
"$buffer" image /sys/fs/bpf/tnf/buf memory || fail "image"
"$tnfxtract" --no-context -d memory -n /proc/kallsyms dump.tnf 2>err || fail "$(cat err)"
cmp -n $size live dump.tnf || fail "the image gives another trace"
printf 'ktrace on\n' | prex_k

# A full disk.
mkdir small && mount -t tmpfs -o size=4m tmpfs small || fail "mount"
"$tnfxtract" small/x 2>err && fail "wrote 16 MiB to 4"
grep -q 'No space left on device' err || fail "$(cat err)"
[ -z "$(ls -A small)" ] || fail "left $(ls -A small)"
umount small

# For root's eyes only.
chmod 755 "$TMP"; mkdir -m 777 open
if command -v setpriv >/dev/null; then
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$tnfxtract" open/x 2>err && fail "nobody read the buffer"
	[ -s err ] && [ -z "$(ls -A open)" ] || fail "nobody: $(cat err)"
fi
kill $load; load=

# Tracing outlives prex; what happened after its death is there.
printf 'ktrace off\nbuffer dealloc\n' | prex_k
mkfifo commands
"$prex" -k <commands >shell.out 2>&1 & shell=$!
exec 4>commands
cat >&4 <<EOF
buffer alloc 4m
trace name=thread_create
enable name=thread_create
ktrace on
list name probes name=thread_create
EOF
wait_for 30 grep -q thread_create shell.out || fail "prex does not trace: $(cat shell.out)"
kill -9 $shell; wait $shell 2>/dev/null
exec 4>&-
for i in 1 2 3 4 5 6 7 8 9 10; do sh -c 'exec true'; done
"$tnfxtract" after 2>err || fail "$(cat err)"
"$tnfdump" after >dump || fail "tnfdump"
[ "$(grep -c ' thread_create ' dump)" -ge 10 ] ||
	fail "events after kill -9: $(grep -c ' thread_create ' dump)"
grep -aq '^ended [0-9]* [0-9]* [0-9]* true$' after || fail "no ended task in the context"
grep -aq '^symbol ffff[0-9a-f]* ' after || fail "no symbols in the context"

# The list of symbols, which is long, is read once a boot.
unshare -m sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$@"' sh "$tnfxtract" kept 2>err ||
	fail "$(cat err)"
grep -aq '^symbol ffff[0-9a-f]* ' kept || fail "the symbols were read again"

# Also those who lived when tracing was switched off, and did not live to see this.
sleep 100 & sleeper=$!
printf 'ktrace off\n' | prex_k
kill $sleeper; wait $sleeper 2>/dev/null
"$tnfxtract" later 2>err || fail "$(cat err)"
grep -aq "^ended $sleeper $sleeper $$ sleep$" later || fail "who ended after tracing has no name"
grep -aq '^ended [0-9]* [0-9]* [0-9]* prex$' later || fail "prex has no name"
grep -aq "^ended $$ " later && fail "a process that lives has ended"
exit 0
