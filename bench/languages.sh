#!/bin/sh
# languages.sh - a probe in Rust, Java, Node, Go and Python, off and on, with two integers, beside
# what each language has of others: LTTng's package for Java, and its handler for Python's logging,
# which makes a string of the two.  Debian has no package of others for Rust, Node and Go: Node lost
# its USDT probes in version 19, and no crate or module for USDT is there; C's are in user.sh.
#
# The floor of Java, Node and Go is a call of a C function that does nothing (floor.c): such a hit
# cannot cost less than that and what C takes.  Python's is the loop with a test that is False; zero
# is the test of the integer 0, and loop the loop without a test.
#
# Nanoseconds of a hit, the least of 50 pieces of a run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/peers/lttng.sh"
source=$(cd "$bench_dir/.." && pwd)
loops=${BENCH_LOOPS:-5000000} work=$BENCH_TMP/languages
LD_LIBRARY_PATH=$BENCH_BUILD/libtnfprobe
PYTHONPATH=$BENCH_BUILD/python
export LD_LIBRARY_PATH PYTHONPATH
mkdir -p "$work"
cp -r "$source/bindings/." "$work"

# Each makes its program, or says what is missing.
build_rust() {
	cp "$bench_dir/languages/bench.rs" "$work/rust/examples/"
	printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$work/config.toml"
	(cd "$work/rust" && CARGO_HOME=$work/cargo CARGO_TARGET_DIR=$work/target cargo --offline --config "$work/config.toml" \
	    build --quiet --release --example bench)
}
build_go() {
	mkdir "$work/go/examples/bench" && cp "$bench_dir/languages/bench.go" "$work/go/examples/bench/main.go"
	(cd "$work/go" && GOCACHE=$work/gocache GOPROXY=off GOFLAGS=-mod=mod go build -o "$work/gobench" ./examples/bench)
}
build_java() {
	jdk=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
	(cd "$work/java" && make && javac -cp "tnf.jar:$lttng_jar" -d classes "$bench_dir/languages/Bench.java" \
	    ${lttng_jar:+"$bench_dir/languages/BenchLttng.java"}) &&
	    cc -O2 -fPIC -shared -I"$jdk/include" -I"$jdk/include/linux" -o "$work/java/libfloor.so" "$bench_dir/languages/floor.c"
}
build_node() {
	include=$(node -p 'require("path").resolve(process.execPath, "../../include/node")')
	(cd "$work/node" && make) &&
	    cc -O2 -fPIC -shared -DNODE -I"$include" -o "$work/floor.node" "$bench_dir/languages/floor.c"
}

run_c() { "$BENCH_BUILD/bench/bench-probe" --one ints "$loops" 1 | awk '{ print $1 }'; }
run_rust() { "$work/target/release/examples/bench" "$loops"; }
run_go() { "$work/gobench" "${1:-tnf}" "$loops"; }
run_java() {
	java -cp "$work/java/tnf.jar:$work/java/classes:$lttng_jar" -Djava.library.path="$work/java:/usr/lib/x86_64-linux-gnu/jni" \
	    Bench "${1:-tnf}" "$loops"
}
run_node() { node "$bench_dir/languages/bench.js" "$work/${1:-node/index.js}" "$loops"; }
run_python() { /usr/bin/python3 "$bench_dir/languages/bench.py" "${1:-tnf}" $((loops / 5)); }

# recorded LANGUAGE: with the probe on; the ring is written over.
recorded() { rm -f "$work/ring.tnf"; TNF_ENABLE=bench TNF_FILE=$work/ring.tnf TNF_SIZE=1m "run_$1"; }

lttng_jar=/usr/share/java/liblttng-ust-java.jar
[ -e $lttng_jar ] || { echo "$bench: peer missing: LTTng for Java (Debian package liblttng-ust-java)"; lttng_jar=; }
/usr/bin/python3 -c 'import lttngust' 2>/dev/null || echo "$bench: peer missing: LTTng for Python (Debian package python3-lttngust)"
have lttng lttng-tools && have lttng-sessiond lttng-tools
languages=python
for l in "rust cargo cargo" "java javac default-jdk-headless" "node node nodejs" "go go golang-go"; do
	# shellcheck disable=SC2086 # words are meant
	set -- $l
	have "$2" "$3" || continue
	if "build_$1" >"$work/log" 2>&1; then
		languages="$languages $1"
	else
		failed "$1: $(tail -n 1 "$work/log")"
	fi
done

# peer LANGUAGE EVENTS...: what LTTng has for the language, recorded in memory
peer() {
	lttng_begin snapshot yes || return 0
	l=$1
	shift
	lttng -n enable-event "$@" >/dev/null 2>&1 || { lttng_end; return 0; }
	set -- "$l"
	sample "$1 LTTng on" ns "$round" "run_$1" lttng
	lttng_end
}

while another 120; do
	sample "C on" ns "$round" run_c
	for l in $languages; do
		sample "$l off" ns "$round" "run_$l"
		sample "$l on" ns "$round" recorded "$l"
		case $l in
		rust) ;;
		node) sample "$l floor" ns "$round" run_node floor.node ;;
		*) sample "$l floor" ns "$round" "run_$l" floor ;;
		esac
		[ "$l" != python ] || for test in zero loop; do sample "$l $test" ns "$round" run_python "$test"; done
	done
	command -v lttng-sessiond >/dev/null || continue
	[ -z "$lttng_jar" ] || peer java -u 'lttng_ust_java:*'
	peer python --python -a
done
table "C on" "ns of a hit with two integers, the least of 50 pieces"
