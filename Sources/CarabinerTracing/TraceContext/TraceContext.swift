package import Tracing

/// A position in a trace.
package struct TraceContext: Sendable, Hashable {
  package var traceID: TraceID
  /// The surrounding span; nil before the first span of a trace.
  package var spanID: SpanID?
  /// Whether the trace is recorded.
  package var isSampled: Bool
  /// Whether the span belongs to another process.
  package var isRemote: Bool
  package var state: TraceState?

  /// Creates a context.
  package init(traceID: TraceID, spanID: SpanID?, isSampled: Bool, isRemote: Bool, state: TraceState? = nil) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
    self.isRemote = isRemote
    self.state = state
  }

  /// The context of an incoming request.
  package init(_ parent: TraceParent, state: TraceState?) {
    self.init(traceID: parent.traceID, spanID: parent.spanID, isSampled: parent.isSampled, isRemote: true, state: state)
  }

  /// The `traceparent` for outgoing requests; nil before the first span.
  package var parent: TraceParent? { spanID.map { TraceParent(traceID: traceID, spanID: $0, isSampled: isSampled) } }
}

extension ServiceContext {
  private enum Key: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "carabiner-trace" }
  }

  /// The position in a trace of ``OTLPTracer``; nil if there is none.
  package var trace: TraceContext? {
    get { self[Key.self] }
    set { self[Key.self] = newValue }
  }
}
