/// An error that rejects a request, with the answer for the client.
package protocol ClientFacingError: Error {
  /// The HTTP status for the client, 400 to 599; nil for the default.
  var refusalStatus: Int? { get }
  /// The message for the client; nil if the message is for operators only.
  var refusalMessage: String? { get }
  /// Details for programs, as JSON text; nil for none.
  var refusalDetail: String? { get }
  /// How long the client should wait before it retries; nil for no advice.
  var refusalDelay: Duration? { get }
  /// Whether the request is rejected because it took too long.
  var isTimeout: Bool { get }
}

extension ClientFacingError {
  package var isTimeout: Bool { false }
}
