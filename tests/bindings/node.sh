#!/bin/sh
# node.sh - the package tnf: its own tests, a server, the span processor, values of each kind,
# and a program without libtnfprobe.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/bindings/lib.sh"
need_program node cc make python3 jq
copy node
include=$(node -p 'require("path").resolve(process.execPath, "../../include/node")')
[ -e "$include/node_api.h" ] || skip "no node_api.h: apt-get install libnode-dev"
make > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; fail "make"; }
! grep -q warning "$TMP/log" || { cat "$TMP/log" >&2; wrong "warnings"; }
node --test test/ > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; wrong "node --test"; }
serve 'web catalogue' node examples/server.js 0 3

cat > "$TMP/spans.js" <<'S'
const { TnfSpanProcessor } = require(process.argv[2]);
const p = new TnfSpanProcessor();
const span = (name, traceId, spanId, parentSpanId) =>
  ({ name, status: { code: 0 }, parentSpanId, spanContext: () => ({ traceId, spanId }) });
const trace = '0123456789abcdef0123456789abcdef';
const order = span('order', trace, '1111111111111111'), bake = span('bake', trace, '2222222222222222', '1111111111111111');
p.onStart(order);
p.onStart(bake);
setTimeout(() => { p.onEnd(order); setTimeout(() => p.onEnd(bake), 2); }, 2);
S
TNF_ENABLE=otel TNF_FILE=$TMP/spans.tnf node "$TMP/spans.js" "$PWD/otel.js" || wrong "span processor: status $?"
nested "$TMP/spans.tnf"

# The package as npm packs and installs it.
if command -v npm > /dev/null; then
	export npm_config_cache="$TMP/npm"
	npm pack --silent > "$TMP/log" 2>&1 && mkdir "$TMP/use" &&
	    npm install --offline --no-audit --no-fund --prefix "$TMP/use" ./tnf-*.tgz >> "$TMP/log" 2>&1 || wrong "npm: $(cat "$TMP/log")"
	TNF_ENABLE=otel TNF_FILE=$TMP/packed.tnf node "$TMP/spans.js" "$TMP/use/node_modules/tnf/otel.js" || wrong "packed: status $?"
	nested "$TMP/packed.tnf"
else
	echo "node.sh: no npm: the package is not packed" >&2
fi

# The same with OpenTelemetry's own SDK: each span that it ends, with the SDK's ids, also one that
# the sampler records and does not send on.
TNF_JUDGES=${TNF_JUDGES:-$TNF_SOURCE/build-judges}
export TNF_JUDGES
cat > "$TMP/sdk.js" <<'S'
const load = (name) => require(require.resolve(name, { paths: [process.env.TNF_JUDGES] }));
const { BasicTracerProvider, SamplingDecision } = load('@opentelemetry/sdk-trace-base');
const { trace, context } = load('@opentelemetry/api');
const { TnfSpanProcessor } = require(process.argv[2]);
const sampler = { shouldSample: () => ({ decision: SamplingDecision?.RECORD ?? 1 }) };
const tracer = new BasicTracerProvider({ sampler, spanProcessors: [new TnfSpanProcessor()] }).getTracer('test');
const order = tracer.startSpan('order');
const bake = tracer.startSpan('bake', {}, trace.setSpan(context.active(), order));
setTimeout(() => {
  bake.setStatus({ code: 2, message: 'burnt' });
  bake.end();
  order.end();
  for (const s of [order, bake]) console.log(s.spanContext().traceId, s.spanContext().spanId);
}, 2);
S
if [ -e "$TNF_JUDGES/package.json" ]; then
	TNF_ENABLE=otel TNF_FILE=$TMP/sdk.tnf node "$TMP/sdk.js" "$PWD/otel.js" > "$TMP/ids" || wrong "with the SDK: status $?"
	nested "$TMP/sdk.tnf"
	same_ids "$TMP/sdk.tnf" "$TMP/ids"
else
	echo "node.sh: no SDK: tools/judges installs it" >&2
fi

cat > "$TMP/values.js" <<'V'
const { Probe } = require(process.argv[2]);
const kinds = { i: 'int8', u: 'uint64', f: 'float64', o: 'opaque', s: 'string', t: 'text', b: 'blob', y: 'bool' };
const p = new Probe('values', { keys: 'test', args: kinds });
p.hit(-1, 2n ** 64n - 1n, 0.5, 255, 'short', 'é'.repeat(1000), Buffer.from([1, 2]), true);
p.hit('x', null, undefined, {}, 1, Symbol('x'), 'no buffer', 1);
p.hit(-(2n ** 65n) - 3n, 2 ** 63, 1n, 2 ** 64);
V
TNF_ENABLE=test TNF_FILE=$TMP/values.tnf node "$TMP/values.js" "$PWD/index.js" || wrong "values: status $?"
same "values" "$("$tnfdump" --no-header --to jsonl "$TMP/values.tnf" | python3 -c '
import json, sys
for line in list(sys.stdin)[-3:]:
    a = json.loads(line)["args"]
    print(a["i"], a["u"], a["f"], a["o"], a["s"], a["t"] and len(a["t"]), a["b"], a["y"])')" \
"-1 18446744073709551615 0.5 0xff short 1000 {'\$bytes': '0102'} 1
0 0 0.0 0x0 None None None 1
-3 9223372036854775808 0.0 0x0 None None None 0"
(unset LD_LIBRARY_PATH; node --test test/ > "$TMP/log" 2>&1) || { cat "$TMP/log" >&2; wrong "without the library"; }
exit "$bad"
