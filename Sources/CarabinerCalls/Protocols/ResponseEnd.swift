internal import CarabinerWire

/// The headers and trailers of a response, and its end made of them.
struct ResponseEnd {
  var headers: Headers = [:]
  var trailers: Trailers = [:]

  /// The end of a call that succeeded.
  var success: ResponseEvent { .complete(code: .ok, error: nil, trailers: trailers) }

  /// The end of a call that failed.
  func failure(
    _ code: Code, _ message: String?, exception: (any Error)? = nil, details: [ConnectError.Detail] = []
  ) -> ResponseEvent {
    let metadata = headers.merging(trailers) { $1 }
    return .complete(
      code: code,
      error: ConnectError(code: code, message: message, exception: exception, details: details, metadata: metadata),
      trailers: trailers)
  }

  /// The end of a call whose response does not follow the protocol.
  func fault(_ code: Code, _ message: String?, _ fault: ResponseFault = ResponseFault()) -> ResponseEvent {
    failure(code, message, exception: fault)
  }

  /// The end of a call that failed with an error of our own.
  func failure(_ error: ConnectError) -> ResponseEvent {
    fault(error.code, error.message, ResponseFault(cause: error.exception))
  }

  /// The end of a call that failed with an error of the server.
  ///
  /// - Parameter inferred: The code, unless the error has a valid one.
  func failure(_ body: ConnectErrorBody, inferred: Code) -> ResponseEvent {
    failure(
      ConnectError.code(of: body) ?? inferred, body.message ?? "",
      details: body.details.map { ConnectError.Detail($0) })
  }

  /// The end of a call whose status is not that of a success.
  func failure(_ status: ResponseStatus, _ code: Code) -> ResponseEvent {
    guard case .http(let number) = status else { return failure(code, "the exchange failed") }
    return fault(code, "the server answered with the HTTP status \(number)", ResponseFault(httpStatus: number))
  }

  /// The end of a body that ended too early.
  ///
  /// - Parameter code: The code of the exchange; `ok` if there is none.
  func cutOff(_ message: String, _ code: Code) -> ResponseEvent { fault(code == .ok ? .internalError : code, message) }

  /// The end of a call whose content type is not the expected one.
  ///
  /// - Parameter isOfProtocol: Whether it is a type of the protocol, with another codec.
  func failure(contentType: String?, expected: String, isOfProtocol: Bool) -> ResponseEvent {
    let received = contentType.map { "the content type \($0.prefix(100).debugDescription)" } ?? "no content type"
    return fault(isOfProtocol ? .internalError : .unknown, "the response has \(received), and \(expected) is expected")
  }
}
