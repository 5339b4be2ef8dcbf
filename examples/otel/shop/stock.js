// stock.js - a request "TRACEPARENT CAKE" is passed on to the price service (Rust).
//
// usage: stock.js PRICE-PORT	prints its port, and ends after a request
'use strict';
const { randomBytes } = require('crypto');
const net = require('net');
const { Probe } = require(process.env.TNF_NODE || 'tnf');

// The probes that TnfSpanProcessor hits for a program that uses OpenTelemetry's SDK.
const start = new Probe('span_start', { keys: 'otel', args: { name: 'string', trace: 'string', span: 'string', parent: 'string' } });
const end = new Probe('span_end', { keys: 'otel', args: { span: 'string', error: 'string' } });

const server = net.createServer((client) => {
  client.once('data', (line) => {
    const [header, cake] = line.toString().trim().split(' ');
    const [, trace, parent] = header.split('-');
    const span = randomBytes(8).toString('hex');
    start.hit('stock', trace, span, parent);
    const price = net.connect(+process.argv[2], '127.0.0.1', () => price.write(`00-${trace}-${span}-01 ${cake}\n`));
    price.once('data', (answer) => {
      end.hit(span, '');
      client.end(answer);
      price.destroy();
      server.close();
    });
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
