'use strict';
// A server that answers on a port of this machine: a line "cake" gets its price.
//
// usage: server.js [PORT [REQUESTS]]    (default: any port, told on standard output; for ever)
const net = require('node:net');
const { Span } = require('..');

const request = new Span('request', { keys: 'web', args: { id: 'int64' } });
const lookup = new Span('lookup', { keys: 'catalogue', args: { cake: 'text' } });
const prices = new Map([['apple', 320], ['brownie', 250]]);

function price(cake) {
  const span = lookup.begin(cake);
  const found = prices.get(cake);
  span.end();
  return found;
}

const port = Number(process.argv[2] ?? 0);
const most = Number(process.argv[3] ?? Infinity);
let number = 0;
const server = net.createServer((socket) => {
  const span = request.begin(++number);
  if (number >= most) server.close();
  socket.once('data', (line) => {
    const found = price(line.toString().trim());
    socket.end(found === undefined ? 'no such cake\n' : `${found}\n`);
    span.end(found === undefined ? 404 : 0);
  });
});
server.listen(port, '127.0.0.1', () => console.log(server.address().port));
