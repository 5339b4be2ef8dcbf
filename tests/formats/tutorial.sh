#!/bin/sh
# Guards: a command of doc/tutorial.html that fails, an answer that the text does not fit, a page
# that is not that of doc/make-tutorial, pictures that make the source large.
# usage: tutorial.sh BUILD
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_kernel
need_program python3 chromedriver chromium
scratch
export HOME="$TMP"
"$TNF_SOURCE/doc/make-tutorial" "$1" "$TMP/tutorial.html" || fail "make-tutorial"
# Text and commands, without what one run printed and drew.
told()
{
	sed 's/src="[^"]*"//' "$1" | awk '/^<pre>/ { pre = 1 } !pre || /<b>/ { sub(/^<pre>/, ""); print } /<\/pre>/ { pre = 0 }' |
		sed 's/<\/pre>$//'
}
told "$TNF_SOURCE/doc/tutorial.html" >"$TMP/committed"
told "$TMP/tutorial.html" >"$TMP/made"
diff "$TMP/committed" "$TMP/made" || fail "doc/tutorial.html is older than doc/make-tutorial: run that"
[ "$(grep -c 'base64,[A-Za-z0-9+/=]\{10000,\}"' "$TMP/tutorial.html")" = 3 ] || fail "not three pictures"
for page in "$TNF_SOURCE/doc/tutorial.html" "$TMP/tutorial.html"; do
	[ "$(wc -c <"$page")" -lt 400000 ] || fail "$page: $(wc -c <"$page") bytes"
done
echo "$(grep -c "<b>" "$TMP/made") commands are in the page"
