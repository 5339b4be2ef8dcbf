#!/bin/sh
# go.sh - the module tnf: its own tests, a server, and a program without libtnfprobe.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
. "$TNF_SOURCE/tests/bindings/lib.sh"
need_program go python3 cc jq
copy go
export GOCACHE="$TMP/cache" GOPATH="$TMP/path" GOFLAGS=-mod=mod GOPROXY=off CGO_ENABLED=1
[ -z "$(gofmt -l .)" ] || wrong "gofmt: $(gofmt -l .)"
go vet ./... && go vet -tags tnf_cgo . || wrong "go vet"
go test . > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; wrong "go test"; }
# As another module builds it, which requires this one.
mkdir -p "$TMP/examples/server" && cp examples/server/*.go "$TMP/examples/server" && (module=$PWD && cd "$TMP/examples/server" && go mod init user &&
    go mod edit -require=tnf@v0.0.0 "-replace=tnf=$module" && go build -o "$TMP/server" .) 2> "$TMP/log" || fail "go build: $(cat "$TMP/log")"
serve 'web catalogue' "$TMP/server" 0 3
# What goes by cgo passes its checks of pointers.
TNF_ENABLE=test TNF_FILE=$TMP/bench.tnf GODEBUG=cgocheck=1 go test -tags tnf_cgo -run - -bench Hit -benchtime 20000x . > "$TMP/log" 2>&1 || wrong "a benchmark that is on"
[ "$("$tnfdump" --no-header --probe benched "$TMP/bench.tnf" | grep -c 'm: 2')" -gt 1000 ] || wrong "hits of the benchmark"
# Texts of stacks that grow, with garbage collected meanwhile: straight into C, and by cgo.
for tag in tnf_direct tnf_cgo; do
	TNF_ENABLE=storm TNF_FILE=$TMP/$tag.tnf TNF_SIZE=16m go test -count=1 -tags $tag -run Storm . > "$TMP/log" 2>&1 || { cat "$TMP/log" >&2; wrong "$tag: status $?"; }
	same "$tag" "$("$tnfdump" --no-header --to jsonl --probe storm "$TMP/$tag.tnf" | python3 -c '
import json, sys
args = [json.loads(line)["args"] for line in sys.stdin if "args" in line]
print(len({a["n"] for a in args}), sum(a["s"] == str(a["n"]) and a["t"] == 20 * (a["s"] + " ") and a["none"] == "" for a in args))')" "8000 8000"
done
# OpenTelemetry's SDK, as Debian has it, with our span processor.
otel=/usr/share/gocode/src/go.opentelemetry.io/otel/sdk
if [ -d $otel ]; then
	mkdir -p "$TMP/gopath/src" && ln -s "$PWD" "$TMP/gopath/src/tnf"
	GO111MODULE=off GOFLAGS='' GOPATH="$TMP/gopath:/usr/share/gocode" go build -o "$TMP/spans" tnf/otel/example || wrong "the span processor"
	TNF_ENABLE=otel TNF_FILE=$TMP/spans.tnf "$TMP/spans" > "$TMP/ids" || wrong "span processor: status $?"
	nested "$TMP/spans.tnf"
	same_ids "$TMP/spans.tnf" "$TMP/ids"
else
	echo "go.sh: no OpenTelemetry (Debian package golang-opentelemetry-otel-dev): its spans are not tried" >&2
fi
(unset LD_LIBRARY_PATH; go test . > "$TMP/log" 2>&1) || { cat "$TMP/log" >&2; wrong "without the library"; }
exit "$bad"
