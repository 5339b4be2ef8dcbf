'use strict';
const assert = require('node:assert');
const { test } = require('node:test');
const { Probe, Span } = require('..');
const { TnfSpanProcessor } = require('../otel.js');

test('a probe that is off records nothing and never throws', () => {
  const probe = new Probe('off', { keys: 'test', args: { n: 'int32', s: 'text' } });
  assert.strictEqual(probe.on, false);
  probe.hit(1, 'x');
  probe.hit();
  probe.hit({}, Symbol('x'));
  new Span('span').begin().end();
});

test('a type that is unknown is told', () => {
  assert.throws(() => new Probe('bad', { args: { n: 'int' } }), /int8, int16/);
});

test('a span by an argument that is not the first is refused', () => {
  assert.throws(() => new Span('bad', { args: { a: 'int32', b: 'int32' }, by: 'b' }), /first/);
});

test('too many arguments', () => {
  const args = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, 'int8']));
  assert.throws(() => new Probe('many', { args }), /16/);
});

test('a span processor takes spans without a parent', async () => {
  const processor = new TnfSpanProcessor();
  const span = { name: 'x', status: { code: 0 }, spanContext: () => ({ traceId: 'a', spanId: 'b' }) };
  processor.onStart(span);
  processor.onEnd(span);
  await processor.forceFlush();
  await processor.shutdown();
});
