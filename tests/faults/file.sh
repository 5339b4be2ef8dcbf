#!/bin/sh
# file.sh - the trace file cannot be made, or somebody lays hands on it.
#
# usage: file.sh PREX TNFDUMP HITS
. "${TNF_SOURCE:-../..}/tests/faults/lib.sh"

what="full file system"
if is_root; then
	mkdir small
	mount -t tmpfs -o size=1m tmpfs small || skip "cannot mount a tmpfs"
	undo='umount small'
	refused 'No space left' 'smaller\|another' "$TMP/small/f" -s 4096

	what="file system that gets full while we write"
	target ready hit=50000
	attach -o small/f -s 512
	dd if=/dev/zero of=small/rest bs=4096 2>/dev/null
	go
	survived
	wait $prex || wrong "prex's status is $?"
	"$DUMP" small/f > out 2> err || wrong "tnfdump: status $?"
	grep -q 'number: 50000 ' out || wrong "the last event is missing"
	rm small/f small/rest

	what="read-only file system"
	mount -o remount,ro small
	refused 'Read-only' 'another' "$TMP/small/f"
	umount small
	undo=
fi

what="no such directory"
refused 'No such file' 'mkdir' "$TMP/nothing/f"
what="directory that is a file"
: > plain
refused 'Not a directory' 'another' "$TMP/plain/f"
what="file that is a directory"
mkdir dir
refused 'names a directory' 'another' "$TMP/dir"
refused 'names a directory' 'another' .

what="device"
refused '/dev is for devices' 'another' /dev/null
refused '/dev is for devices' 'another' /dev/stdout
[ -c /dev/null ] && [ -L /dev/stdout ] || wrong "a device is gone"
if is_root && mknod zero c 1 5 2>/dev/null; then
	refused 'is a device' 'another' "$TMP/zero"
	[ -c zero ] || wrong "a device is gone"
fi

what="limit of prex on the size of files"
( ulimit -f 100; refused 'File too large' 'ulimit -f' "$TMP/f"; exit $bad ) || bad=1

what="limit of prex that leaves room for the events alone"
( ulimit -f 1024	# blocks of 512 bytes
prex -o f -s 512 -c 'enable $all; continue' "$HITS" count hit=1000 ) ||
	wrong "prex's status is $?"
whole 1000 f
rm -f f count

what="limit of the target on the size of files"
prex -o f -s 1024 -c 'enable $all; continue' "$HITS" count fsize=4096 hit=1000
grep -q unharmed out || wrong "the target has not survived"
whole 1000 f

what="directory where prex has no right to write"
if is_root; then
	mkdir closed
	chmod 755 "$HOME" closed
	cp "$HITS" public-hits
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$PREX" -o closed/f -c continue ./public-hits /tmp/none hit=1 \
		> out 2> err
	[ $? -eq 1 ] || wrong "prex's status is not 1"
	says 'closed/f.*Permission denied.*another'
fi

what="file cut off under a running target"
target ready slow=100 ready slow=50 ready
attach -o f -s 1024
go; wait_for 60 counted 100
truncate -s 0 f
go; wait_for 60 counted 150
interrupt
says 'Tracing shut down'
says "/f: somebody cut it off"
survived
"$DUMP" f > out 2> err && wrong "tnfdump takes an empty file for a trace"
grep -q 'f is empty' err || wrong "tnfdump does not say that it is empty"

what="file cut off under a running family"
target ready family=150 slow=50
attach -o f -s 1024
go; wait_for 60 counted 100
truncate -s 0 f
survived
wait $prex || wrong "prex's status is $?"
says '/f: it was cut off'

what="file cut in half under a running target"
target ready slow=200 ready slow=100
attach -o f -s 1024
go; wait_for 60 counted 200
truncate -s 102400 f		# behind the first data blocks
go; survived
wait $prex || wrong "prex's status is $?"
says '/f: it was cut off'
"$DUMP" f > out 2> err && wrong "tnfdump takes half a file for a trace"
grep -q 'bad TNF file' err || wrong "tnfdump does not complain"
"$DUMP" --salvage f > out 2> err
grep -q 'number: 1 ' out || wrong "what was left is not shown"

what="file removed under a running target"
target ready slow=100 ready slow=50
attach -o f -s 1024
go; wait_for 60 counted 100
rm f
go; survived
wait $prex || wrong "prex's status is $?"
says '/f: .*removed'
[ ! -e f ] || wrong "somebody has made it again"

# A file that stands under the name is not ours and must stay as it is.
for kind in file link pipe directory; do
	what="$kind put in the place of the trace file"
	target ready slow=50 ready
	attach -o f -s 1024
	rm f
	case $kind in
	file) echo mine > f ;;
	link) echo mine > other; ln -s other f ;;
	pipe) mkfifo f ;;
	directory) mkdir f ;;
	esac
	go; wait_for 60 counted 50
	interrupt
	says '/f: it was'
	survived
	case $kind in
	file|link) [ "$(cat f)" = mine ] || wrong "it has been written" ;;
	esac
	rm -rf f other
done

# Whatever the umask, the file is its owner's and nobody else's.
for mask in 000 022 077 0777; do
	what="umask $mask"
	( umask $mask
	rm -f count
	"$PREX" -o f -c 'enable $all; continue' "$HITS" count hit=10 \
		> out 2> err < /dev/null )
	whole 10 f
	[ "$(stat -c %a f)" = 600 ] || wrong "mode $(stat -c %a f)"
	rm -f f
	chmod 600 count out err
done
exit $bad
