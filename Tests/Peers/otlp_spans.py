"""Decodes bodies of OTLP requests, one per line, with OpenTelemetry's own messages, and prints every span as a line of JSON.

Fields that the messages do not define are errors.
"""
import base64
import json
import sys

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
except ImportError:
    sys.exit("the Python package opentelemetry-proto is not installed; run Scripts/install-test-peers")

IDS = {"traceId", "spanId", "parentSpanId"}


def with_ids(value):
    """OTLP writes ids as hexadecimal digits, protobuf's JSON as base 64."""
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode() if key in IDS else with_ids(inner)
            for key, inner in value.items()
        }
    return [with_ids(inner) for inner in value] if isinstance(value, list) else value


def plain(value):
    """The content of a value of any type."""
    kind = value.WhichOneof("value")
    inner = getattr(value, kind) if kind else None
    return [plain(element) for element in inner.values] if kind == "array_value" else str(inner)


def attributes(of):
    return {attribute.key: plain(attribute.value) for attribute in of.attributes}


for line in sys.stdin:
    request = json_format.ParseDict(with_ids(json.loads(line)), ExportTraceServiceRequest())
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                print(json.dumps({
                    "resource": attributes(resource.resource), "scope": scope.scope.name, "trace": span.trace_id.hex(),
                    "id": span.span_id.hex(), "parent": span.parent_span_id.hex(), "state": span.trace_state,
                    "name": span.name, "kind": span.SpanKind.Name(span.kind), "flags": span.flags,
                    "start": str(span.start_time_unix_nano), "end": str(span.end_time_unix_nano),
                    "attributes": attributes(span), "status": span.status.StatusCode.Name(span.status.code),
                    "message": span.status.message,
                    "events": [{"name": event.name, "attributes": attributes(event)} for event in span.events],
                    "links": [link.span_id.hex() for link in span.links],
                }))
