#!/bin/sh
# judges.sh - programs that we did not write accept what we write: protoc and protobufjs with
# OpenTelemetry's own .proto files, and the SDK's client of the Model Context Protocol.
#
# usage: judges.sh TNFDUMP LIBTNFPROBE LINKED STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program node protoc python3
TNF_JUDGES=${TNF_JUDGES:-$TNF_SOURCE/build-judges}
export TNF_JUDGES
[ -e "$TNF_JUDGES/package.json" ] || skip "no judges: tools/judges installs them"
tnfdump=$(realpath "$1")
LD_LIBRARY_PATH=$(dirname "$(realpath "$2")")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
linked=$(realpath "$3")
story=$(realpath "$4")
protos=$TNF_JUDGES/node_modules/@opentelemetry/otlp-grpc-exporter-base/build/protos
scratch
bad=0
wrong() { echo "FAIL: $*" >&2; bad=1; }

# judge TRACE SPANS OPTION...
judge() {
	trace=$1 spans=$2
	shift 2
	"$tnfdump" --to otlp-pb "$@" "$trace" > "$TMP/pb" 2> /dev/null || wrong "$trace: tnfdump"
	"$tnfdump" --to otlp "$@" "$trace" > "$TMP/json" 2> /dev/null || wrong "$trace: tnfdump"
	protoc -I "$protos" --decode=opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest \
	    opentelemetry/proto/collector/trace/v1/trace_service.proto < "$TMP/pb" > "$TMP/text" || wrong "$trace: protoc"
	# protoc prints a field that the schema lacks by its number.
	grep -qE '^ *[0-9]+( \{|:)' "$TMP/text" && wrong "$trace: fields that OpenTelemetry does not know"
	n=$(grep -c '^ *spans {' "$TMP/text")
	got=$(node "$TNF_SOURCE/tests/judges/otlp.js" "$protos" "$TMP/pb" "$TMP/json" 2>&1) || wrong "$trace: protobufjs: $got"
	[ "$got" = "$n" ] && [ "$n" -ge "$spans" ] || wrong "$trace: $n spans by protoc, $got by protobufjs, $spans at least"
}

TNF_ENABLE=test TNF_FILE=$TMP/spans.tnf "$linked" || wrong "the program"
judge "$TMP/spans.tnf" 1200 --pair hit,hit
# Spans that failed, with events, links to others, values of every type.
"$story" "$TMP/odd.tnf" <<'STORY' || wrong "story"
process 100
boot 1
probe request_start web id:tnf_int32
probe request_end web id:tnf_int32 errno:tnf_int32
probe note web big:tnf_uint64 small:tnf_int8
probe ask net id:tnf_int32
probe got net id:tnf_int32
1000 100 101 1 0 request_start 7
1010 100 101 1 0 note 18446744073709551615 -1
1020 100 101 1 0 ask 5
1100 100 101 1 0 request_end 7 2
1200 100 102 1 0 request_start 8
1210 100 102 1 0 got 5
1300 100 102 1 0 request_end 8 0
1400 100 102 1 0 request_start 9
@host "web\1
@clock 5000000 1700000000000000000
@task 100 100 1 caf\303\251
STORY
judge "$TMP/odd.tnf" 3 --hosts --message ask,got,id
for trace in kern_live.lp64 records.s390x scalars.ilp32; do
	judge "$TNF_SOURCE/tests/golden/traces/$trace.tnf" 0 --where 'probe != ""'
done

got=$(node "$TNF_SOURCE/tests/judges/mcp.mjs" "$TNF_SOURCE/python/tnf-mcp" "$tnfdump" "$TMP" "$TMP/odd.tnf" "$TMP/spans.tnf" 2>&1) ||
    wrong "tnf-mcp: $got"
exit "$bad"
