internal import Synchronization
package import Tracing

/// An outer span: the request of a client, or one of several operations in it.
package final class RequestSpan: Sendable {
  private let tracer: any Tracer
  private let span: any Tracing.Span
  private let clock: TraceClock
  private let endsClock: Bool
  private let redact: @Sendable (String) -> String
  private let isOver = Atomic<Bool>(false)
  private let chains = Mutex<[ChainSpans]>([])

  /// Starts the span of a request.
  ///
  /// - Parameters:
  ///   - context: The context of the parent span.
  ///   - redact: Removes secrets from a text.
  package init(
    _ name: String, tracer: any Tracer, context: ServiceContext, redact: @escaping @Sendable (String) -> String = { $0 },
    _ describe: (inout SpanAttributes) -> Void
  ) {
    clock = TraceClock()
    endsClock = true
    self.tracer = tracer
    self.redact = redact
    span = tracer.startSpan(name, context: context, ofKind: .server, at: clock.start)
    span.updateAttributes(describe)
  }

  private init(_ name: String, within whole: RequestSpan) {
    clock = whole.clock
    endsClock = false
    tracer = whole.tracer
    redact = whole.redact
    span = tracer.startSpan(name, context: whole.span.context, ofKind: .internal, at: clock.now)
  }

  /// Starts a span for one of several operations.
  package func part(_ name: String) -> RequestSpan { RequestSpan(name, within: self) }

  /// Adds attributes.
  package func describe(_ update: (inout SpanAttributes) -> Void) { span.updateAttributes(update) }

  /// Returns a tracer for the chain, with this span as the parent.
  ///
  /// - Parameter attributes: Additional attributes of each span of a stage.
  package func chain(attributes: SpanAttributes) -> ChainSpans {
    let chain = ChainSpans(
      tracer, parent: span.context, clock: clock, attributes: attributes, maximumSpans: ChainSpans.defaultMaximumSpans,
      redact: redact)
    chains.withLock { $0.append(chain) }
    return chain
  }

  /// Marks the span as failed.
  package func fail() { span.setStatus(SpanStatus(code: .error)) }

  /// Ends the span. Further calls have no effect.
  package func end() {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    let leftOut = chains.withLock(\.self).reduce(0) { $0 + $1.leftOut }
    if leftOut > 0 { describe { $0[AttributeName.leftOutSpans] = leftOut } }
    // A body that is dropped later must not extend beyond the request in its trace.
    span.end(at: endsClock ? clock.stop() : clock.now)
  }
}
