#!/bin/sh
# shop.sh - examples/otel/shop: one order through Python, Node, Rust and C, with the kernel, is one
# trace, one page, one file that the judges take, and one answer of tnf-mcp.
#
# usage: shop.sh TNFDUMP LIBTNFPROBE LIBTNFOTEL
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program node cargo python3 cc make jq protoc
python=$TNF_BUILD/python
ls "$python"/tnf/_tnf.*.so >/dev/null 2>&1 || skip "no Python package in the build"
include=$(node -p 'require("path").resolve(process.execPath, "../../include/node")')
[ -e "$include/node_api.h" ] || skip "no node_api.h: apt-get install libnode-dev"
need_kernel
TNFDUMP=$(realpath "$1") probe=$(dirname "$(realpath "$2")") otel=$(dirname "$(realpath "$3")")
scratch
LD_LIBRARY_PATH=$probe:$otel${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH TNFDUMP
kernel_off() { [ ! -e /sys/fs/bpf/tnf/state ] || "$PREX" -k -c 'ktrace off' -c 'untrace $all' -c 'disable $all' -c 'buffer dealloc' -c quit >/dev/null 2>&1; }
trap 'kernel_off; test_end' EXIT
cp -r "$TNF_SOURCE/bindings/node" "$TMP/node" && make -C "$TMP/node" >"$TMP/log" 2>&1 || fail "$(cat "$TMP/log")"
mkdir -p "$TMP/source/examples/otel" "$TMP/source/bindings"
cp -r "$TNF_SOURCE/examples/otel/shop" "$TMP/source/examples/otel/"
cp -r "$TNF_SOURCE/bindings/rust" "$TMP/source/bindings/"
# The example needs the crate alone; its optional crates are Debian's.
printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$TMP/config.toml"
[ -d /usr/share/cargo/registry ] || skip "no crates: apt-get install librust-tracing-subscriber-dev"
PREX=$TNF_BUILD/prex/prex
answer=$(PREX=$PREX TNFXTRACT=$TNF_BUILD/tnfxtract/tnfxtract TNF_NODE=$TMP/node PYTHONPATH=$python PYTHON=/usr/bin/python3 \
	CFLAGS="-I$TNF_SOURCE/include" LDFLAGS="-L$probe -L$otel" CARGO_HOME=${CARGO_HOME:-$TMP/cargo} \
	CARGO="cargo --offline --config $TMP/config.toml" \
	timeout 100 sh "$TMP/source/examples/otel/shop/run" "$TMP/out" 2>"$TMP/log") || fail "run: $(tail -n 5 "$TMP/log" "$TMP/out/prex.log")"
trace=${answer% *}
[ "${answer#* }" = 250 ] || fail "the answer is $answer"
cd "$TMP/out" || exit 1

jq -r '.resourceSpans[] | .scopeSpans[].spans[] | [.name, .traceId, .spanId, .parentSpanId // "-"] | join(" ")' spans.json >spans
[ "$(awk -v t="$trace" '$2 == t' spans | wc -l)" = 4 ] && [ "$(wc -l <spans)" = 4 ] || fail "spans: $(cat spans)"
chain=$(awk '{ id[$1] = $3; up[$1] = $4 } END { print up["order"], up["stock"] == id["order"], up["price"] == id["stock"], up["fetch"] == id["price"] }' spans)
[ "$chain" = "- 1 1 1" ] || fail "no chain: $chain: $(cat spans)"
services=$(jq -r '.resourceSpans[].resource.attributes[] | select(.key == "service.name").value.stringValue' spans.json | sort | tr '\n' ' ')
[ "$services" = 'cellar front price stock ' ] || fail "services: $services"
names=$(python3 -c 'import base64, re, zlib
page = open("page.html").read()
data = zlib.decompress(base64.b64decode(re.search("<script id=.data.[^>]*>([^<]*)", page).group(1) + "=="))
print(*(n for n in ("order", "stock", "price", "fetch", "syscall_start") if n.encode() in data))')
[ "$names" = "order stock price fetch syscall_start" ] || fail "on the page: $names"

# The kernel's work for the order in the cellar: it read the list.
span=$(awk '$1 == "price" { print $3 }' spans)
"$TNFDUMP" --no-header --columns probe,span --where "kernel and span == \"$span\"" cellar.tnf kernel.tnf >kernel.txt || fail "tnfdump"
[ "$(grep -c syscall_start kernel.txt)" -ge 3 ] || fail "system calls in the span: $(cat kernel.txt)"

# The judges, where they are; then an assistant's question.
judges=${TNF_JUDGES:-$TNF_SOURCE/build-judges}
protos=$judges/node_modules/@opentelemetry/otlp-grpc-exporter-base/build/protos
if [ -d "$protos" ]; then
	protoc -I "$protos" --decode=opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest \
		opentelemetry/proto/collector/trace/v1/trace_service.proto <spans.pb >text || fail "protoc"
	[ "$(grep -c '^ *spans {' text)" = 4 ] || fail "protoc: $(cat text)"
	[ "$(TNF_JUDGES=$judges node "$TNF_SOURCE/tests/judges/otlp.js" "$protos" spans.pb spans.json)" = 4 ] || fail "protobufjs"
else
	echo "shop.sh: no judges: tools/judges installs them" >&2
fi
jq -cn --arg where "trace == \"$trace\"" '{jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "tree",
	arguments: {files: ["front.tnf", "stock.tnf", "price.tnf", "cellar.tnf", "kernel.tnf"], where: $where}}}' |
	python3 "$TNF_SOURCE/python/tnf-mcp" --tnfdump "$TNFDUMP" "$TMP/out" >answer.json || fail "tnf-mcp"
jq -r '.result.content[0].text' answer.json >answer
for name in order stock price; do
	grep -q "$name" answer || fail "tnf-mcp: no $name: $(cat answer)"
done
grep -q 'fetch.*brownie' answer || fail "tnf-mcp: no fetch: $(cat answer)"
[ "$(grep -c syscall_start answer)" -ge 3 ] || fail "tnf-mcp: the cellar's system calls: $(cat answer)"
