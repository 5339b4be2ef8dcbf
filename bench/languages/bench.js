// The least nanoseconds of a hit with two integers, over 50 pieces: bench.js PACKAGE LOOPS; with
// PACKAGE floor.node, of a function in C that does nothing.
'use strict';
const { Probe, nothing } = require(process.argv[2]);
const loops = Math.floor(process.argv[3] / 50);
const hit = nothing ? { on: true, hit: nothing } : new Probe('hit', { keys: 'bench', args: { n: 'int64', m: 'int64' } });
function piece() {
  const began = process.hrtime.bigint();
  for (let i = 0; i < loops; i++)
    if (hit.on) hit.hit(i, 2);
  return Number(process.hrtime.bigint() - began) / loops;
}
let least = Infinity;
for (let k = 0; k < 60; k++) least = Math.min(least, piece());
console.log(least);
