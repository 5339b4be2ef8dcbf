module tnf/otel

go 1.19

require (
	go.opentelemetry.io/otel v1.1.0
	go.opentelemetry.io/otel/sdk v1.1.0
	tnf v0.2.0
)

replace tnf => ../
