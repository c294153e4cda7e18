internal import Synchronization
package import Tracing

/// A span of ``OTLPTracer``.
package final class OTLPSpan: Tracing.Span {
  /// The maximal number of events of a span, as in OpenTelemetry.
  static let maximumEvents = 128
  /// The maximal number of links of a span, as in OpenTelemetry.
  static let maximumLinks = 128

  private struct State {
    var name: String
    var attributes = SpanAttributes()
    var events: [SpanEvent] = []
    var links: [TraceContext] = []
    var status: SpanStatus?
    var isOver = false
  }

  package let context: ServiceContext
  private let trace: TraceContext
  private let parent: TraceContext?
  private let kind: SpanKind
  private let start: UInt64
  /// The exporter that receives the span at its end; nil if it is not recorded.
  private let exporter: OTLPExporter?
  private let state: Mutex<State>

  init(
    _ name: String, context: ServiceContext, trace: TraceContext, parent: TraceContext?, kind: SpanKind, start: UInt64,
    exporter: OTLPExporter?
  ) {
    var context = context
    context.trace = trace
    self.context = context
    self.trace = trace
    self.parent = parent
    self.kind = kind
    self.start = start
    self.exporter = exporter
    state = Mutex(State(name: name))
  }

  package var isRecording: Bool { exporter != nil && !state.withLock(\.isOver) }

  package var operationName: String {
    get { state.withLock(\.name) }
    set { change { $0.name = newValue } }
  }

  package var attributes: SpanAttributes {
    get { state.withLock(\.attributes) }
    set { change { $0.attributes = newValue } }
  }

  package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

  package func addEvent(_ event: SpanEvent) {
    change { state in
      if state.events.count < Self.maximumEvents { state.events.append(event) }
    }
  }

  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    var attributes = attributes
    attributes["exception.type"] = String(describing: type(of: error))
    attributes["exception.message"] = "\(error)"
    addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
  }

  package func addLink(_ link: SpanLink) {
    guard let other = link.context.trace else { return }
    change { state in
      if state.links.count < Self.maximumLinks { state.links.append(other) }
    }
  }

  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    guard let exporter else { return }
    let end = instant().nanosecondsSinceEpoch
    let finished: FinishedSpan? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      return FinishedSpan(
        context: trace, parent: parent?.spanID, isParentRemote: parent?.isRemote ?? false, name: state.name, kind: kind,
        start: start, end: max(start, end), attributes: state.attributes, events: state.events, links: state.links,
        status: state.status)
    }
    if let finished { exporter.add(finished) }
  }

  /// Applies a change, unless the span has ended.
  private func change(_ body: (inout State) -> Void) {
    guard exporter != nil else { return }
    state.withLock { state in
      if !state.isOver { body(&state) }
    }
  }
}
