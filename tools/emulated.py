#!/usr/bin/env python3
"""emulated.py - the tests of a cross build that a qemu-user can run.

usage: emulated.py tests BUILD [programs]
       emulated.py targets BUILD [programs]

tests	their names, for meson test with --suite unit --suite golden
targets	the files that ninja has to make for them

"programs": only those that meson starts by qemu, as against scripts, which start
programs of another machine by themselves: these need the kernel's help (binfmt_misc).
"""
import json
import os
import re
import subprocess
import sys

SUITES = {'unit', 'golden'}

# A qemu-user is no kernel: no MADV_WIPEONFORK or MADV_DONTFORK, no ptrace, no seccomp, its own threads, signals and
# words on standard error; no terminal behind forkpty(); the sanitizers' libraries are
# not there.
IMPOSSIBLE = re.compile(r'''
    old-client|common-map|.*tsan.*|prex,\ scripts.*|prex,\ messages|prex,\ start.*|
    prex,\ mistakes|writer-(process|forks|room|files|open|children|storm|values).*|
    writer-late|writer-property-asan|kernel-.*|links|messages|dump-pods|otel-check
    ''', re.X)

# They take minutes there, and say no more than they do here.
LONG = re.compile(r'''
    hostile|flips|formats|formats,\ .*|reader-lazy|dump-(many|slice|large|halves)
    ''', re.X)


def introspect(build, what):
    said = subprocess.run(['meson', 'introspect', what, build],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def tests(build, programs):
    for test in introspect(build, '--tests'):
        if not SUITES & {s.split(':')[-1] for s in test['suite']}:
            continue
        if IMPOSSIBLE.fullmatch(test['name']) or LONG.fullmatch(test['name']):
            continue
        if not programs or test['cmd'][0].startswith(build + os.sep):
            yield test


def main():
    what, build, *more = sys.argv[1:]
    chosen = list(tests(build, 'programs' in more))
    if what == 'tests':
        print('\n'.join(test['name'] for test in chosen))
        return
    wanted = {target for test in chosen for target in test['depends']}
    for target in introspect(build, '--targets'):
        if target['id'] in wanted:
            print('\n'.join(os.path.relpath(f, build) for f in target['filename']))


main()
