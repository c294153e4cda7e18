public import Carabiner
public import FoundationEssentials
internal import Synchronization
public import Tracing

/// Makes spans of what a chain does with one request: one whenever a stage works, and one for each transfer.
///
/// It is the tracer of one request: `RequestConfiguration(tracer: ChainSpans(tracer))`. Stages wait for those further in, and that time is
/// no span of theirs; so what a stage does on the way down and what it does on the way up are two spans. The server is told of the
/// transfer's span in the way the tracer injects it, as in `traceparent`.
public final class ChainSpans: ChainTracer {
  /// How many spans one request may have; a body in thousands of pieces would have as many.
  public static let defaultMaximumSpans = 128

  private let tracer: any Tracer
  private let parent: ServiceContext
  private let clock: TraceClock
  private let attributes: SpanAttributes
  private let maximumSpans: Int
  private let redact: @Sendable (String) -> String
  private let spans = Atomic<Int>(0)
  private let transfers = Atomic<Int>(0)

  /// Spans of one request.
  ///
  /// - Parameters:
  ///   - tracer: Who makes them.
  ///   - parent: What they happen within.
  ///   - attributes: What every span of a stage has beside its own.
  ///   - maximumSpans: How many there may be; further ones are left out.
  ///   - redact: Takes out of a text what must not leave the process; stages tell of errors, and errors of URLs.
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

  /// How many spans there would have been beyond those allowed.
  var leftOut: Int { max(0, spans.load(ordering: .relaxed) - maximumSpans) }

  private var hasRoom: Bool { spans.add(1, ordering: .relaxed).newValue <= maximumSpans }

  public func record(_ event: StageEvent) {
    // A transfer has a span of its own.
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
    // Who serves the connection is told of no span: it has one head for all operations.
    let (span, _) = transfer(operationType.rawValue, to: endpoint)
    span.updateAttributes { all in
      all[AttributeName.graphQLOperationType] = operationType.rawValue
      all[AttributeName.protocolName] = "websocket"
    }
    return TransferSpan(span, clock: clock, redact: redact)
  }

  private func transfer(_ name: String, to url: URL) -> (span: any Tracing.Span, attempt: Int) {
    // A transfer has its span in any case: without it the server's part of the trace would hang in the air.
    _ = hasRoom
    let span = tracer.startSpan(name, context: parent, ofKind: .client, at: clock.now)
    span.updateAttributes { all in
      // The query of a GET holds variables.
      all[AttributeName.urlFull] = redact(PrintableURL(url).withoutQuery)
      if let host = url.host() { all[AttributeName.serverAddress] = redact(host) }
      all[AttributeName.serverPort] = url.port ?? (["https", "wss"].contains(url.scheme) ? 443 : 80)
    }
    return (span, transfers.add(1, ordering: .relaxed).newValue)
  }
}

/// Writes the fields of a trace into a head.
private struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) { carrier[key] = value }
}
