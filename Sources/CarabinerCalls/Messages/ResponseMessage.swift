/// The outcome of a unary call.
public struct ResponseMessage<Output: Sendable>: Sendable {
  /// The code; that of the error if there is one.
  public let code: Code
  /// The header fields, names in lower case.
  public let headers: Headers
  /// The message, or the error.
  public let result: Result<Output, ConnectError>
  /// The trailers, names in lower case.
  public let trailers: Trailers

  /// Creates an outcome.
  public init(code: Code = .ok, headers: Headers = [:], result: Result<Output, ConnectError>, trailers: Trailers = [:]) {
    self.code = code
    self.headers = headers
    self.result = result
    self.trailers = trailers
  }

  /// An outcome without a response.
  init(failure error: ConnectError) { self.init(code: error.code, result: .failure(error)) }

  /// The error; nil for success.
  public var error: ConnectError? { if case .failure(let error) = result { error } else { nil } }

  /// The message; nil for an error.
  public var message: Output? { try? result.get() }
}
