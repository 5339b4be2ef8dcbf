#!/bin/sh
# containers.sh - prex and processes with name spaces of processes, mounts and users of
# their own, whose root is read-only and has what they need and nothing of ours: they get
# the library without a file being left there, the trace lies where -o says, and events
# have both numbers and the name.  Without a C library, as well: static programs, and
# one with USDT probes.  A program of another machine or word size gets the message that
# it gets outside.
#
#	containers.sh TNFDUMP PREX NOLIB STATIC USDT WORDS
# (Each program may be "-": not that one.  Only USDT takes the kernel's probes.)
# The environment variable CONTAINERS has the kinds: by default "unshare lxc", those that
# need no more than a moment; "podman" takes the kernel's unified control groups.
. "${TNF_SOURCE:-.}/tests/lib.sh"
need_root
need_ptrace
need_program unshare
[ "$5" = - ] || need_kernel
tnfdump=$(realpath "$1") prex=$(realpath "$2") nolib=$3
static=$4 usdt=$5 words=$6
scratch
chmod 711 "$TMP"
root=$TMP/root volume=$TMP/volume
mkdir -m 777 "$volume"
outer='' pid=''
end_guest() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	# podman removes what it has made when its process has ended.
	[ -z "$outer" ] || [ -e "$TMP/pid" ] || kill -9 "$outer" 2>/dev/null
	[ -z "$outer" ] || wait "$outer" 2>/dev/null
	rm -f "$TMP/pid"
	outer='' pid=''
}
stop_all() {
	end_guest
	[ ! -e /sys/fs/bpf/tnf/buf ] || [ -z "$buffer" ] ||
		printf 'ktrace off\nbuffer dealloc\n' | "$prex" -k > /dev/null 2>&1
	test_end
}
buffer=''
trap stop_all EXIT

# A root with these programs and the libraries that they name.
make_root() {
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/proc" "$root/dev" "$root/sys" "$root/etc" "$root/run" "$root$volume"
	for program; do
		cp "$program" "$root/bin/guest"
		for file in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*'); do
			mkdir -p "$root$(dirname "$file")"
			cp "$file" "$root$file"
		done
	done
	# On these podman mounts its own.
	touch "$root/etc/hosts" "$root/etc/hostname" "$root/etc/resolv.conf" "$root/run/.containerenv"
	chmod -R go+rX "$root"
}
what_is_there() { (cd "$root" && find . -type f -exec cksum {} + ; find . ! -type f) | sort; }

# Kinds of containers: unshare(1)'s, and others' if they are there and work.
kinds=
for runner in ${CONTAINERS:-unshare lxc}; do
	case $runner in
	lxc) command -v lxc-start > /dev/null || continue ;;
	podman) command -v podman > /dev/null || continue ;;
	esac
	kinds="$kinds $runner"
done
by_unshare() {
	# shellcheck disable=SC2016  # words of another shell
	unshare --mount --pid --fork --propagation private sh -c '
		mount --bind "$1" "$1" && mount -t proc proc "$1/proc" &&
		mount --bind "$2" "$1$2" && mount -o remount,bind,ro "$1" &&
		exec unshare --user --map-root-user --root "$1" /bin/guest web' sh "$root" "$volume" \
	    > "$TMP/ready" 9>&- &
	outer=$!
}
by_lxc() {
	cat > "$TMP/lxc.conf" <<X
lxc.uts.name = tnf-test
lxc.rootfs.path = dir:$root
lxc.rootfs.options = ro
lxc.net.0.type = none
lxc.mount.auto = proc:rw
lxc.mount.entry = $volume ${volume#/} none bind 0 0
lxc.console.path = none
lxc.autodev = 0
lxc.idmap = u 0 100000 1000
lxc.idmap = g 0 100000 1000
lxc.init.cmd = /bin/guest web
X
	mkdir -p "$TMP/lxc"
	lxc-start -F -n "tnf-test-$$" -f "$TMP/lxc.conf" -P "$TMP/lxc" > "$TMP/ready" \
	    2> "$TMP/said" < /dev/null 9>&- &
	outer=$!
}
# If version 1 of control groups is mounted beside them, its runtime starts nothing; its
# limits are written out since it would raise ours.  Beside its filter of system calls a
# process is given no library: it might kill it. Its USDT probes are there.
by_podman() {
	mkdir -p "$TMP/podman"
	# shellcheck disable=SC2016  # words of another shell
	unshare --mount --propagation private sh -c '
		umount -R /sys/fs/cgroup 2>/dev/null; mount -t cgroup2 none /sys/fs/cgroup
		exec podman --root "$1/podman/a" --runroot "$1/podman/b" --tmpdir "$1/podman/c" \
			--storage-driver vfs --cgroup-manager cgroupfs run --rm --pidfile "$1/pid" \
			--network none --cgroups disabled --ulimit nofile=1024:1024 \
			--ulimit nproc=1000:1000 --uidmap 0:100000:1000 --gidmap 0:100000:1000 \
			--security-opt seccomp=unconfined \
			--read-only --read-only-tmpfs=false -v "$2:$2" --rootfs "$1/root" /bin/guest web' \
		sh "$TMP" "$volume" > "$TMP/ready" 2> "$TMP/said" < /dev/null 9>&- &
	outer=$!
}
# The one of the processes below ours that runs the guest.
below() {
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		echo "$child"
		below "$child"
	done
}
found() {
	for child in $outer $(below "$outer") $(cat "$TMP/pid" 2>/dev/null); do
		[ "$(cat "/proc/$child/comm" 2>/dev/null)" != web ] || pid=$child
	done
	[ -n "$pid" ] || ! kill -0 "$outer" 2>/dev/null
}
begin_guest() {
	: > "$TMP/ready"
	"by_$1"
	wait_for 60 found && [ -n "$pid" ] || { end_guest; return 1; }
	ls "/proc/$pid/fd" > "$TMP/descriptors"
	what_is_there > "$TMP/before"
}

# events FILE PROBE COLUMN-VALUES: all events of it have them, and there is one.
events() {
	"$tnfdump" --no-header --columns=pid,lwpid,host-pid,comm,probe "$1" 2>/dev/null |
	    awk -v probe="$2" -v want="$3" '$NF == probe { n++; $1 = $1; if ($0 != want " " probe) bad = 1 }
		END { exit n == 0 || bad }'
}
recorded() { "$tnfdump" "$1" 2>/dev/null | grep -q " $2 "; }
untouched() {
	what_is_there > "$TMP/after"
	cmp -s "$TMP/before" "$TMP/after" || fail "$1: its root: $(diff "$TMP/before" "$TMP/after")"
	ls "/proc/$pid/fd" > "$TMP/after"
	cmp -s "$TMP/descriptors" "$TMP/after" ||
		fail "$1: its descriptors: $(diff "$TMP/descriptors" "$TMP/after")"
}

inner() { awk '/^NSpid:/ { print $NF }' "/proc/$pid/status"; }

# tnf WHAT RUNNER PROGRAM DIR FILE...: recorded as a process of the machine is, into each
# FILE of DIR.
tnf() {
	what="$1 ($2)" runner=$2 program=$3 dir=$4
	shift 4
	make_root "$program"
	begin_guest "$runner" || return 1
	[ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ] ||
		fail "$what: no name space of users"
	[ "$(inner)" != "$pid" ] || fail "$what: no name space of processes"
	for trace; do
		timeout 300 "$prex" -p "$pid" -o "$dir/$trace" > "$TMP/out" 2>&1 <<'X' || fail "$what: prex: $(cat "$TMP/out")"
list name object probes $all
enable $all
quit
X
		wait_for 60 recorded "$dir/$trace" guest_hit || fail "$what: nothing recorded: $(cat "$TMP/out")"
		untouched "$what"
		grep -q 'name=guest_hit.*object=.*/guest' "$TMP/out" || fail "$what: list: $(cat "$TMP/out")"
		events "$dir/$trace" guest_hit "$(inner) $(inner) $pid web" ||
			fail "$what: $("$tnfdump" --columns=pid,lwpid,host-pid,comm,probe "$dir/$trace" | head -4)"
	done
	rm -f "$dir/first" "$dir/second"
	end_guest
	echo "$what: both numbers, name, library and file"
}

# usdt WHAT RUNNER PROGRAM: recorded by the kernel.
usdt() {
	what="$1 ($2)"
	make_root "$3"
	begin_guest "$2" || return 1
	timeout 300 "$prex" --no-fast -p "$pid" > "$TMP/out" 2>&1 <<'X' || fail "$what: prex: $(cat "$TMP/out")"
trace guest.hit
enable guest.hit
quit
X
	rm -f "$TMP/trace"
	kernel_recorded() {
		rm -f "$TMP/trace"
		"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" && recorded "$TMP/trace" guest.hit
	}
	wait_for 60 kernel_recorded || fail "$what: nothing recorded: $(cat "$TMP/out")"
	untouched "$what"
	"$tnfdump" --no-header --columns=host-pid,comm,probe "$TMP/trace" |
	    awk -v pid="$pid" '$3 == "guest.hit" { n++; if ($1 != pid || $2 != "web") bad = 1 }
		END { exit n == 0 || bad }' ||
		fail "$what: $("$tnfdump" --columns=host-pid,comm,probe "$TMP/trace" | head -4)"
	printf 'disable guest.hit\nktrace off\nbuffer dealloc\n' | "$prex" -k > /dev/null 2>&1
	[ ! -e /sys/fs/bpf/tnf ] || fail "$what: pins stay: $(ls /sys/fs/bpf/tnf)"
	end_guest
	echo "$what: number, name and file"
}

# refused WHAT RUNNER PROGRAM MESSAGE
refused() {
	make_root "$3"
	begin_guest "$2" || return 1
	"$prex" -p "$pid" -c quit > "$TMP/out" 2>&1 < /dev/null && fail "$1 ($2): not refused"
	grep -q "$4" "$TMP/out" || fail "$1 ($2): $(cat "$TMP/out")"
	end_guest
	echo "$1 ($2): $4"
}

unshare --mount --user true 2>/dev/null || skip "no name spaces"
for runner in $kinds; do
	[ "$nolib" != - ] || break
	tnf "a dynamic program" $runner "$nolib" "$TMP" first second ||
		{ echo "$runner: not here: $(cat "$TMP/said")"; continue; }
	[ "$static" = - ] || tnf "a static program" $runner "$static" "$volume" first
	[ "$words" = - ] || refused "a program of 32 bits" $runner "$words" "the program has 32 bits"
done

# The kernel records into one buffer of the machine.
if [ "$usdt" != - ]; then
	[ -e /sys/bus/event_source/devices/uprobe ] || skip "kernel without uprobes"
	buffer=ours
	for runner in $kinds; do
		usdt "a program with USDT probes" $runner "$usdt" || continue
	done
fi
exit 0
