/// What fields may know of the request besides its document.
struct RequestSurroundings: Sendable {
  /// Whether the request came with a valid token.
  var isAuthenticated = false
  /// The request's headers, names in lower case.
  var headers: [String: String] = [:]
  /// Waits; throws if nobody wants the answer any more.
  var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}
