#!/usr/bin/env python3
"""results.py - one line a test out of meson's testlog.json.

usage: results.py BUILD testlog.json [AGAIN]
       results.py --failed testlog.json

Prints PASS|FAIL|SKIP <tab> BUILD <tab> "suite name[: subtest]" <tab> reason.
A test that speaks TAP counts as many as it has subtests.  One that failed, and whose
name is a line of the file AGAIN, is printed once, as AGAIN.

--failed prints the names of the tests that failed, as meson test takes them.
"""
import json
import re
import sys

TAP = re.compile(r'^(not )?ok\b[ \d]*-? ?([^#]*?)\s*(?:# *(skip|todo)\w*:? *(.*))?$', re.I)
PASSED = ('OK', 'EXPECTEDFAIL')


def reason(test):
    """Why a test was skipped or failed, in its own words."""
    text = (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')
    for pattern in (r'^SKIP: *(.*)', r'^1\.\.0 *# *skip\w*:? *(.*)', r'^FAIL: *(.*)'):
        found = re.search(pattern, text, re.M | re.I)
        if found:
            return found.group(1)
    return '' if test['result'] in PASSED else test['result'].lower()


def subtests(test):
    for line in (test.get('stdout') or '').splitlines():
        found = TAP.match(line)
        if found:
            bad, name, skip, why = found.groups()
            kind = 'SKIP' if skip and skip.lower() == 'skip' else 'FAIL' if bad else 'PASS'
            yield kind, name, why or ''


def short_name(test):
    return test['name'].split(' / ', 1)[-1]


def lines(test, again):
    name = test['name'].split(':', 1)[-1].strip().replace(' / ', ' ', 1)
    if test['result'] == 'SKIP':
        return [('SKIP', name, reason(test))]
    subs = list(subtests(test))
    good = test['result'] in PASSED
    if not good and short_name(test) in again:
        return [('AGAIN', name, reason(test))]
    if not subs or not good and not any(k == 'FAIL' for k, _, _ in subs):
        subs.append(('PASS' if good else 'FAIL', '', reason(test)))
    return [(k, name + (': ' + n if n else ''), w) for k, n, w in subs]


def tests(path):
    with open(path, encoding='utf-8', errors='replace') as log:
        for line in log:
            yield json.loads(line)


def main():
    build, path, *more = sys.argv[1:]
    if build == '--failed':
        for test in tests(path):
            if test['result'] not in PASSED + ('SKIP',):
                print(short_name(test))
        return
    again = open(more[0], encoding='utf-8').read().splitlines() if more else []
    for test in tests(path):
        for kind, name, why in lines(test, again):
            print(kind, build, name, why.replace('\t', ' '), sep='\t')


main()
