# shellcheck shell=sh
# Functions that the tests of the fleet share; tests/lib.sh comes first.  Each has a nats-server of
# its own, on a port that it chooses itself.

fleet_programs() {
	W=$(realpath "$1") DUMP=$(realpath "$2") STORY=$(realpath "$3")
	need_program nats-server
	scratch
	cd "$TMP" || exit 1
	STARTED=
	trap 'fleet_end' EXIT
	PATH=$(dirname "$DUMP"):$PATH
	export PATH
	bad=0
}
wrong() { echo "FAIL: $*" >&2; bad=1; }

fleet_end() {
	for _p in $STARTED; do kill -9 "$_p" 2>/dev/null; done
	wait 2>/dev/null
	test_end
}

# server: its address is in NATS; again after a kill, with what it had on the same port.
server() {
	if [ -z "$NATS" ]; then
		{ echo "listen: \"127.0.0.1:${1:--1}\""
		echo 'jetstream { store_dir: "'"$TMP"'/js", max_mem: 64m, max_file: 512m }'
		} > nats.conf
		mkdir -p ports
		set -- --ports_file_dir "$TMP/ports"
	else
		sed -i "s/^listen:.*/listen: \"${NATS#nats://}\"/" nats.conf
		rm -f ports/*
		set -- --ports_file_dir "$TMP/ports"
	fi
	nats-server -c nats.conf "$@" >> nats.log 2>&1 &
	SERVER=$!
	STARTED="$STARTED $SERVER"
	wait_for 60 has_ports || fail "nats-server does not start: $(cat nats.log)"
	NATS=$(sed 's/.*"nats":\["\([^"]*\)".*/\1/' ports/*.ports)
}
has_ports() { grep -q '"nats"' ports/*.ports 2>/dev/null; }

# trace FILE HOST NR: a few events of a machine.
trace() {
	{
		echo process 100
		echo "boot $3"
		echo 'probe work net id:tnf_int32'
		_i=0
		while [ $_i -lt 40 ]; do
			echo "$((1000000 + _i * 1000)) 100 101 1 0 work $_i"
			_i=$((_i + 1))
		done
		echo "@host $2"
		echo "@clock 1000000 1700000000001000000"
		echo "@sync synchronised 0 5000000 5000000"
	} | "$STORY" "$1" || fail story
}

# agent NAME LABELS [LINE ...]: a recorded machine, its agent in PID_NAME.
agent() {
	_n=$1 _l=$2; shift 2
	mkdir -p "rec/$_n" "kept/$_n"
	[ -e "rec/$_n/shop.tnf" ] || trace "rec/$_n/shop.tnf" "$_n" $((${#STARTED} % 200 + 1))
	{
		echo '[watch]'
		echo "directory = $TMP/kept/$_n"
		echo "run = $TMP/kept/$_n/run"
		echo '[fleet]'
		echo "servers = $NATS"
		echo "name = $_n"
		[ -z "$_l" ] || echo "labels = $_l"
		echo "recorded = $TMP/rec/$_n"
		for _x in "$@"; do echo "$_x"; done
	} > "$_n.conf"
	start_agent "$_n"
}
start_agent() {
	"$W" -c "$1.conf" agent >> "$1.log" 2>&1 &
	eval "PID_$1=$!"
	STARTED="$STARTED $!"
}
asker() { printf '[fleet]\nservers = %s\n' "$NATS" > ask.conf; }
ask() { "$W" -c ask.conf ask "$@"; }
# A host is in the registry and answers.
answers_all() { ask --wait 2s --patience 1s -o "try" > try.out 2>&1; _r=$?; rm -rf try
	grep -q "^pin: $1 of $1 " try.out; }
answers_host() { ask --hosts "$1" --wait 2s --patience 2s -o "try" > try.out 2>&1; _r=$?; rm -rf try; return $_r; }
