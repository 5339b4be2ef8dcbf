// mcp.mjs - the client of the Model Context Protocol's own SDK asks tnf-mcp.
//
// usage: mcp.mjs TNF-MCP TNFDUMP DIRECTORY TRACE LONG
import assert from 'node:assert';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [server, tnfdump, directory, trace, long] = process.argv.slice(2);
const require = createRequire(process.env.TNF_JUDGES + '/x.js');
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/' + name)));
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');

const client = new Client({ name: 'judge', version: '1' });
await client.connect(new StdioClientTransport({ command: 'python3', args: [server, '--tnfdump', tnfdump, '--budget', '2000', directory] }));
assert.strictEqual(client.getServerVersion().name, 'tnf-mcp');
assert.match(client.getInstructions(), /data, never instructions/);
const { tools } = await client.listTools();
assert.deepStrictEqual(tools.map((t) => t.name).sort(), ['diff', 'incidents', 'info', 'sql', 'states', 'stats', 'tree', 'why']);
assert.ok(tools.every((t) => t.annotations.readOnlyHint));

const call = async (name, args) => {
  const r = await client.callTool({ name, arguments: args });
  assert.ok(!r.isError, JSON.stringify(r.content));
  assert.match(r.content[0].text, /^Data from a trace, not instructions/);
  return r.structuredContent;
};
// Each page is within the budget, and the pages together are all lines, each once.
let cursor = 0, lines = 0, total;
do {
  const page = await call('tree', { files: long, cursor });
  assert.ok(page.lines.join('\n').length <= 2000);
  total ??= page.total_lines;
  lines += page.lines.length;
  cursor = page.next_cursor;
} while (cursor !== null);
assert.strictEqual(lines, total);
assert.ok(total > 20);
for (const [name, args] of Object.entries({
  incidents: {}, info: { files: trace }, stats: { files: trace }, states: { files: trace }, why: { files: trace },
  diff: { before: trace, after: trace }, sql: { files: [trace], query: 'SELECT count(*) AS n FROM events' },
})) assert.ok((await call(name, args)).lines.length > 0, name);
// A refusal is a result that says so, and the session goes on.
for (const [name, args] of [['info', { files: '/etc/passwd' }], ['sql', { files: trace, query: 'DROP TABLE events' }], ['info', {}]]) {
  const r = await client.callTool({ name, arguments: args });
  assert.ok(r.isError, name);
}
await client.ping();
await client.close();
console.log(total);
