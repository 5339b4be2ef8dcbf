#!/usr/bin/env python3
"""embed.py - the page of --to html as two C strings: what stands before the data
and what behind.  Style and scripts go in whole; the policy forbids all loads and
every script and style but these, by their hashes.

usage: embed.py OUTPUT page.html style.css SCRIPT...
"""
import base64
import hashlib
import sys


def policy_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-" + base64.b64encode(digest).decode() + "'"


def c_string(name, text):
    out = []
    for line in text.splitlines(keepends=True):
        line = line.encode()
        body = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else "\\%03o" % b
                       for b in line)
        out.append('"' + body + '"')
    # C promises no more than 4095 characters a literal; an array of characters has no limit.
    return "static const char %s[] =\n%s;\n" % (name, "\n".join(out))


def main():
    output, page, style = sys.argv[1:4]
    read = lambda path: open(path, encoding="utf-8").read()
    text, css, script = read(page), read(style), "".join(map(read, sys.argv[4:]))
    csp = "default-src 'none'; script-src %s; style-src %s" % (policy_hash(script), policy_hash(css))
    text = text.replace("@CSP@", csp).replace("@STYLE@", css).replace("@SCRIPT@", script)
    before, after = text.split("@DATA@")
    with open(output, "w", encoding="ascii") as f:
        f.write("/* Made by embed.py from tnfdump/html. */\n")
        f.write(c_string("html_page_before", before) + c_string("html_page_after", after))


main()
