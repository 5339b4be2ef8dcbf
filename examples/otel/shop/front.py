"""front.py - takes an order, begins the trace, and asks the stock (Node).

usage: front.py STOCK-PORT CAKE
"""
import secrets
import socket
import sys

import tnf

# The probes that tnf.otel.SpanProcessor hits for a program that uses OpenTelemetry's SDK.
start = tnf.probe("span_start", keys="otel", args={
    "name": "string", "trace": "string", "span": "string", "parent": "string"})
end = tnf.probe("span_end", keys="otel", args={"span": "string", "error": "string"})

trace, span = secrets.token_hex(16), secrets.token_hex(8)
start("order", trace, span, "")
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20) as s:
    s.sendall(f"00-{trace}-{span}-01 {sys.argv[2]}\n".encode())
    print(trace, s.makefile().readline().strip())
end(span, "")
