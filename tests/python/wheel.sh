#!/bin/sh
# A wheel is made without a network, and is whole: nothing of the tree is needed
# to read with it.
# Usage: wheel.sh PYTHON
. "${TNF_SOURCE:-.}/tests/lib.sh"
python=$1
"$python" -c 'import setuptools, wheel, pip' 2>/dev/null ||
	skip "pip, setuptools or wheel is not installed"
scratch
mkdir "$TMP/src" && cd "$TNF_SOURCE" &&
	cp -r meson.build include common format analysis libtnf python "$TMP/src/" && cd "$TMP" ||
	fail "copy"
CFLAGS=-O0 http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 \
	"$python" -m pip wheel --no-build-isolation --no-deps --no-index -q -w . src/python \
	>log 2>&1 || { tail -20 log; fail "pip wheel"; }
"$python" -m zipfile -e tnf-*.whl here || fail "no wheel"
rm -rf src
n=$(PYTHONPATH=$TMP/here "$python" -c '
import sys, tnf
print(sum(1 for ev in tnf.open(sys.argv[1], where="errno != EINTR or pid != 0")))' \
	"$TNF_SOURCE/tests/golden/traces/kern_events.lp64.tnf") || fail "cannot be used"
[ "$n" -gt 0 ] || fail "$n events"
readelf -d here/tnf/_tnf*.so >needs || fail "readelf"
grep NEEDED needs | grep -v -e 'libc\.so' -e 'ld-linux' && fail "needs another library"
exit 0
