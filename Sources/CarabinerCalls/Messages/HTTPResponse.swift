public import FoundationEssentials

/// The response of a unary call before its message is parsed.
public struct HTTPResponse: Sendable {
  /// Facts of the exchange that are not part of the protocol.
  public struct TracingInfo: Equatable, Sendable {
    /// The status of the HTTP response.
    public let httpStatus: Int

    /// Creates the facts.
    public init(httpStatus: Int) { self.httpStatus = httpStatus }
  }

  /// The code of the response.
  public let code: Code
  /// The header fields, names in lower case.
  public let headers: Headers
  /// The message; nil if there is none.
  public let message: Data?
  /// The trailers, names in lower case.
  public let trailers: Trailers
  /// The error; nil for success.
  public let error: (any Error)?
  /// Facts of the exchange; nil if no response arrived.
  public let tracingInfo: TracingInfo?

  /// Creates a response.
  public init(
    code: Code, headers: Headers, message: Data?, trailers: Trailers, error: (any Error)?, tracingInfo: TracingInfo?
  ) {
    self.code = code
    self.headers = headers
    self.message = message
    self.trailers = trailers
    self.error = error
    self.tracingInfo = tracingInfo
  }

  /// A response that did not arrive.
  init(failure error: ConnectError) {
    self.init(code: error.code, headers: [:], message: nil, trailers: [:], error: error, tracingInfo: nil)
  }

  /// The error of a response without success; nil for success.
  var failure: ConnectError? {
    if let error { return error as? ConnectError ?? ConnectError(code: failureCode, message: "\(error)", exception: error) }
    return code == .ok ? nil : ConnectError.from(code: code, headers: headers, trailers: trailers, source: message)
  }

  private var failureCode: Code { code == .ok ? .unknown : code }
}
