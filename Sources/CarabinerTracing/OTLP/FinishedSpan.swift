internal import Tracing

/// A span that has ended and is to be exported.
struct FinishedSpan: Sendable {
  let context: TraceContext
  /// The parent span; nil for the first of a trace.
  let parent: SpanID?
  /// Whether the parent span is in another process.
  let isParentRemote: Bool
  let name: String
  let kind: SpanKind
  let start: UInt64
  let end: UInt64
  let attributes: SpanAttributes
  let events: [SpanEvent]
  let links: [TraceContext]
  let status: SpanStatus?
}
