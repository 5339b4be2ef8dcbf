// otlp.js - protobufjs, with OpenTelemetry's own .proto files, reads --to otlp-pb, and what
// --to otlp writes is the same message.
//
// usage: otlp.js PROTOS OTLP-PB OTLP-JSON [logs]	prints the number of spans, or of log records
'use strict';
const fs = require('fs');
const path = require('path');
const assert = require('assert');
const protobuf = require(require.resolve('protobufjs', { paths: [process.env.TNF_JUDGES] }));

const [protos, binary, lines, what = 'trace'] = process.argv.slice(2);
const root = new protobuf.Root();
root.resolvePath = (from, to) => path.resolve(protos, to);
root.loadSync(`opentelemetry/proto/collector/${what}/v1/${what}_service.proto`);
const name = what === 'trace' ? 'trace.v1.ExportTraceServiceRequest' : 'logs.v1.ExportLogsServiceRequest';
const Request = root.lookupType('opentelemetry.proto.collector.' + name);
const top = what === 'trace' ? 'resourceSpans' : 'resourceLogs';

// Fields that the schema lacks are dropped when a message is read: written again, it is shorter.
const bytes = fs.readFileSync(binary);
const decoded = Request.decode(bytes);
assert.strictEqual(Request.verify(decoded), null);

// JSON of OTLP has ids in hexadecimal, where protobufjs has them in base64.
function ids(o) {
  for (const key of Object.keys(o ?? {})) {
    if (/^(traceId|spanId|parentSpanId)$/.test(key)) {
      assert.match(o[key], /^([0-9a-f]{16}|[0-9a-f]{32})$/);
      o[key] = Buffer.from(o[key], 'hex').toString('base64');
    } else if (typeof o[key] === 'object') {
      ids(o[key]);
    }
  }
  return o;
}

const json = fs.readFileSync(lines, 'utf8').split('\n').filter(Boolean).map((line) => ids(JSON.parse(line)));
const read = Request.fromObject({ [top]: json.flatMap((j) => j[top] ?? []) });
const plain = (m) => Request.toObject(m, { longs: String, bytes: String, enums: Number });
assert.deepStrictEqual(plain(read), plain(decoded));
const list = what === 'trace' ? (s) => s.spans : (s) => s.logRecords;
const scopes = (plain(decoded)[top] ?? []).flatMap((r) => r.scopeSpans ?? r.scopeLogs);
const all = scopes.flatMap(list);
for (const s of what === 'trace' ? all : []) {
  assert.strictEqual(Buffer.from(s.traceId, 'base64').length, 16);
  assert.strictEqual(Buffer.from(s.spanId, 'base64').length, 8);
  assert.ok(BigInt(s.endTimeUnixNano) >= BigInt(s.startTimeUnixNano) && s.name !== '');
}
console.log(all.length);
