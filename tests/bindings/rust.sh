#!/bin/sh
# rust.sh - the crate tnf, as cargo packages it: its own tests, a server, the layer of the crate
# tracing, and a program without libtnfprobe.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/bindings/lib.sh"
need_program cargo python3
copy rust
export CARGO_TARGET_DIR="$TMP/target" CARGO_HOME="${CARGO_HOME:-$TMP/cargo}"
cat > "$TMP/config.toml" <<'C'
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "/usr/share/cargo/registry"
C
ls -d /usr/share/cargo/registry/tracing-0.1* > /dev/null 2>&1 || skip "no crate tracing: apt-get install librust-tracing-subscriber-dev"
cargo() { command cargo --offline --config "$TMP/config.toml" "$@"; }

# All that follows is of the packaged crate: a file that is not in it is missed.
cargo package --quiet --allow-dirty --no-verify > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; fail "cargo package"; }
tar -xzf "$TMP"/target/package/tnf-*.crate -C "$TMP" && cd "$TMP"/tnf-*/ || fail "the crate"

cargo test --quiet --features tracing > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; wrong "cargo test"; }
cargo build --quiet --release --examples --features tracing 2> "$TMP/log" || { cat "$TMP/log" >&2; fail "cargo build"; }
[ ! -s "$TMP/log" ] || { cat "$TMP/log" >&2; wrong "warnings"; }
programs=$TMP/target/release/examples
serve 'web catalogue' "$programs/server" 0 3
TNF_ENABLE=otel TNF_FILE=$TMP/layer.tnf "$programs/layer" || wrong "layer: status $?"
nested "$TMP/layer.tnf"
same "events of tracing" "$("$tnfdump" --no-header --probe span_event "$TMP/layer.tnf" | grep -c 'message: "in the oven cake=')" 1
(unset LD_LIBRARY_PATH; TNF_ENABLE=otel TNF_FILE=$TMP/none.tnf "$programs/layer") || wrong "without the library: status $?"
exit "$bad"
