public import Carabiner
public import FoundationEssentials
internal import Synchronization
public import Tracing

/// Creates the spans of one request: one for each step of a stage, and one for each transfer.
///
/// Use one instance for each request: `RequestConfiguration(tracer: ChainSpans(tracer))`. The time in which a stage waits for inner stages
/// is not part of its spans, so a stage has one span on the way down and one on the way up. The tracer injects the span of the transfer
/// into the request, for example as `traceparent`.
public final class ChainSpans: ChainTracer {
  /// The default maximal number of spans of one request. A body in thousands of chunks would have as many spans.
  public static let defaultMaximumSpans = 128

  private let tracer: any Tracer
  private let parent: ServiceContext
  private let clock: TraceClock
  private let attributes: SpanAttributes
  private let maximumSpans: Int
  private let redact: @Sendable (String) -> String
  private let spans = Atomic<Int>(0)
  private let transfers = Atomic<Int>(0)

  /// Creates the spans of one request.
  ///
  /// - Parameters:
  ///   - tracer: The tracer that creates the spans.
  ///   - parent: The context of the parent span.
  ///   - attributes: Additional attributes of each span of a stage.
  ///   - maximumSpans: The maximal number of spans. Further ones are dropped.
  ///   - redact: Removes secrets from a text, because outcomes contain errors, and errors contain URLs.
  public convenience init(
    _ tracer: any Tracer, parent: ServiceContext = .current ?? .topLevel, attributes: SpanAttributes = [:],
    maximumSpans: Int = ChainSpans.defaultMaximumSpans, redact: @escaping @Sendable (String) -> String = { $0 }
  ) {
    self.init(
      tracer, parent: parent, clock: TraceClock(), attributes: attributes, maximumSpans: maximumSpans, redact: redact)
  }

  init(
    _ tracer: any Tracer, parent: ServiceContext, clock: TraceClock, attributes: SpanAttributes, maximumSpans: Int,
    redact: @escaping @Sendable (String) -> String
  ) {
    self.tracer = tracer
    self.parent = parent
    self.clock = clock
    self.attributes = attributes
    self.maximumSpans = maximumSpans
    self.redact = redact
  }

  /// The number of dropped spans.
  var leftOut: Int { max(0, spans.load(ordering: .relaxed) - maximumSpans) }

  private var hasRoom: Bool { spans.add(1, ordering: .relaxed).newValue <= maximumSpans }

  public func record(_ event: StageEvent) {
    // A transfer has its own span.
    guard event.kind != .transport, hasRoom else { return }
    let end = clock.now
    let name = event.stage.isEmpty ? event.kind.rawValue : event.stage
    let span = tracer.startSpan(
      "\(name) \(event.hook)", context: parent, ofKind: .internal, at: clock.instant(before: end, by: event.duration))
    span.updateAttributes { all in
      all.merge(attributes)
      all[AttributeName.stage] = name
      if event.isPlugin { all[AttributeName.plugin] = name }
      all[AttributeName.hook] = event.hook
      all[AttributeName.kind] = event.kind.rawValue
      all[AttributeName.direction] = event.direction.rawValue
      all[AttributeName.outcome] = redact(event.outcome)
    }
    if event.isFailure { span.setStatus(SpanStatus(code: .error, message: redact(event.outcome))) }
    span.end(at: end)
  }

  public func willSend(_ request: inout URLRequest) -> (any TransferTracer)? {
    let (span, attempt) = transfer(request.httpMethod, to: request.url)
    span.updateAttributes { all in
      all[AttributeName.method] = request.httpMethod
      if attempt > 1 { all[AttributeName.resendCount] = attempt - 1 }
    }
    tracer.inject(span.context, into: &request.headers, using: HeaderInjector())
    return TransferSpan(span, clock: clock, redact: redact)
  }

  public func willSend(_ operationType: GraphQLOperationType, to endpoint: URL) -> (any TransferTracer)? {
    // The span is not injected, because one connection carries all operations.
    let (span, _) = transfer(operationType.rawValue, to: endpoint)
    span.updateAttributes { all in
      all[AttributeName.graphQLOperationType] = operationType.rawValue
      all[AttributeName.protocolName] = "websocket"
    }
    return TransferSpan(span, clock: clock, redact: redact)
  }

  private func transfer(_ name: String, to url: URL) -> (span: any Tracing.Span, attempt: Int) {
    // A transfer always has a span, because the spans of the server refer to it.
    _ = hasRoom
    let span = tracer.startSpan(name, context: parent, ofKind: .client, at: clock.now)
    span.updateAttributes { all in
      // The query of a GET contains variables.
      all[AttributeName.urlFull] = redact(PrintableURL(url).withoutQuery)
      if let host = url.host() { all[AttributeName.serverAddress] = redact(host) }
      all[AttributeName.serverPort] = url.port ?? (["https", "wss"].contains(url.scheme) ? 443 : 80)
    }
    return (span, transfers.add(1, ordering: .relaxed).newValue)
  }
}

/// Adds the trace fields to the headers of a request.
private struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) { carrier[key] = value }
}
