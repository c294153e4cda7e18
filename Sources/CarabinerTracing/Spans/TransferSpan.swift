internal import Carabiner
internal import Synchronization
internal import Tracing

/// The span of one transfer, from its request to the end of its body, or to its last result.
final class TransferSpan: TransferTracer {
  private let span: any Tracing.Span
  private let clock: TraceClock
  private let redact: @Sendable (String) -> String
  private let isOver = Atomic<Bool>(false)

  init(_ span: any Tracing.Span, clock: TraceClock, redact: @escaping @Sendable (String) -> String) {
    self.span = span
    self.clock = clock
    self.redact = redact
  }

  /// A dropped body ends the transfer without an error.
  deinit { ended(nil) }

  func received(_ head: HTTPURLResponse) {
    span.updateAttributes { attributes in
      attributes[AttributeName.statusCode] = head.statusCode
      if let version = head.httpVersion.number { attributes[AttributeName.protocolVersion] = version }
      if head.statusCode >= 400 { attributes[AttributeName.errorType] = "\(head.statusCode)" }
    }
    if head.statusCode >= 400 { span.setStatus(SpanStatus(code: .error)) }
  }

  func ended(_ error: (any Error)?) {
    guard !isOver.exchange(true, ordering: .relaxed) else { return }
    if let error {
      span.updateAttributes { $0[AttributeName.errorType] = error.typeName }
      // The caller cancelled the request. The server did not fail.
      if !(error is CancellationError) { span.setStatus(SpanStatus(code: .error, message: redact("\(error)"))) }
    }
    span.end(at: clock.now)
  }
}

extension HTTPURLResponse.Version {
  /// The version without the protocol's name; nil if it is not known.
  fileprivate var number: String? {
    switch self {
    case .http10: "1.0"
    case .http11: "1.1"
    case .http2: "2"
    case .http3: "3"
    case .unknown: nil
    }
  }
}

extension Error {
  /// The kind of error, as a stable word.
  fileprivate var typeName: String {
    switch self {
    case let error as TransportError: error.code.rawValue
    case let error as WebSocketError: error.code.rawValue
    case is CancellationError: "cancelled"
    default: String(describing: type(of: self))
    }
  }
}
