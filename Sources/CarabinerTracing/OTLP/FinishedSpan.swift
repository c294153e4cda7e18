internal import Tracing

/// A span that is over, on its way to the collector.
struct FinishedSpan: Sendable {
  let context: TraceContext
  /// The span this one happened within; nil for the first of a trace.
  let parent: SpanID?
  /// Whether the parent is another process's.
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
