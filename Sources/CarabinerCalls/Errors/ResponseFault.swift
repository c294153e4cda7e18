/// The reason for an error that the client created itself, because the response is not usable. Errors that the server sent have no
/// such reason.
package struct ResponseFault: Error, Sendable {
  /// The HTTP status, if that is the reason; nil if the response does not follow the protocol.
  package let httpStatus: Int?
  /// The error of a part, for example of a decompression.
  package let cause: (any Error)?

  init(httpStatus: Int? = nil, cause: (any Error)? = nil) {
    self.httpStatus = httpStatus
    self.cause = cause
  }
}
