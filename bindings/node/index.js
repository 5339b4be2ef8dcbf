'use strict';
// Probes of TNF for Linux.  index.d.ts documents each function.
const native = require('./binding.node');

// enum tnf_argument_kind of <tnf/runtime.h>
const KINDS = { int8: 1, int16: 2, int32: 3, int64: 4, uint8: 5, uint16: 6, uint32: 7, uint64: 8,
  float32: 9, float64: 10, opaque: 11, string: 12, text: 13, blob: 14, bool: 5 };

// The file and the line of the code that called this package.
function place() {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 8;
  const lines = new Error().stack.split('\n');
  Error.stackTraceLimit = limit;
  for (const line of lines.slice(1)) {
    const at = /\(?(?:file:\/\/)?([^()\s]+):(\d+):\d+\)?$/.exec(line);
    if (at && at[1] !== __filename) return `file ${at[1].replaceAll(';', '_').slice(-200)};line ${at[2]}`;
  }
  return '';
}

class Probe {
  #test;
  #hit;

  constructor(name, { keys = '', args = {}, detail = place() } = {}) {
    const kinds = Object.values(args).map((kind) => KINDS[kind]);
    if (kinds.includes(undefined)) {
      throw new TypeError(`${name}: an argument's type is none of ${Object.keys(KINDS).join(', ')}`);
    }
    const made = native.define(name, keys, detail, Object.keys(args), kinds);
    this.#test = made.test;
    this.#hit = made.hit;
  }

  get on() {
    return this.#test[0] !== 0;
  }

  hit(a, b, c, ...rest) {
    if (this.#test[0] === 0) return;
    if (rest.length === 0) this.#hit(a, b, c);
    else this.#hit(a, b, c, ...rest);
  }
}

class Begun {
  #end;
  #id;

  constructor(end, id) {
    this.#end = end;
    this.#id = id;
  }

  end(error = 0) {
    if (this.#id === undefined) this.#end.hit(error);
    else this.#end.hit(this.#id, error);
  }
}

class Span {
  #start;
  #end;
  #by;

  constructor(name, { keys = '', args = {}, by } = {}) {
    const detail = place();
    if (by !== undefined && Object.keys(args)[0] !== by) {
      throw new TypeError(`${name}: by: ${by}: must be the first argument`);
    }
    const end = by === undefined ? {} : { [by]: args[by] };
    this.#by = by !== undefined;
    this.#start = new Probe(`${name}_start`, { keys, args, detail });
    this.#end = new Probe(`${name}_end`, { keys, args: { ...end, error: 'int64' }, detail });
  }

  begin(...values) {
    this.#start.hit(...values);
    return new Begun(this.#end, this.#by ? values[0] : undefined);
  }
}

module.exports = { Probe, Span, available: native.available };
