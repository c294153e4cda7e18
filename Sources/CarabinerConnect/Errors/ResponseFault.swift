/// The reason why a response is an error of our own, and not one that the server sent as an error of the protocol.
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
