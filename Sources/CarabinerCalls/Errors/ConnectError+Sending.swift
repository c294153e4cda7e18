internal import Carabiner

extension ConnectError {
  /// The error of a request that could not be sent, or whose response was lost. A ``ConnectError`` stays as it is.
  package init(sending error: any Error) {
    switch error {
    case let error as ConnectError: self = error
    case is CancellationError: self = .canceled()
    case let error as TransportError: self.init(code: Self.code(of: error), message: error.description, exception: error)
    case let error as RequestChainError: self.init(code: Self.code(of: error), message: error.description, exception: error)
    case let error as any ClientFacingError:
      let code = error.isTimeout ? .deadlineExceeded : error.refusalStatus.map(Code.fromHTTPStatus) ?? .unknown
      self.init(code: code, message: "\(error)", exception: error)
    default: self.init(code: .unknown, message: "\(error)", exception: error)
    }
  }

  private static func code(of error: TransportError) -> Code {
    switch error.code {
    case .nameNotResolved, .cannotConnect, .proxyFailed, .tls, .connectionLost, .bodyNotRepeatable: .unavailable
    case .timedOut: .deadlineExceeded
    case .headTooLarge, .bodyTooLarge: .resourceExhausted
    case .unsupportedURL, .invalidMethod, .invalidHeader, .fileUnreadable, .fileChanged: .invalidArgument
    case .invalidResponse, .redirectRefused: .internalError
    case .other: .unavailable
    }
  }

  private static func code(of error: RequestChainError) -> Code {
    switch error.code {
    case .invalidRequest: .invalidArgument
    case .retryLimit: .resourceExhausted
    case .timedOut, .idle: .deadlineExceeded
    case .noResults, .concurrentUse: .internalError
    }
  }
}
