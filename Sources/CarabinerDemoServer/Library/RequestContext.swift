/// The properties of a request that fields can use besides the document.
struct RequestContext: Sendable {
  /// Whether the request came with a valid token.
  var isAuthenticated = false
  /// The request's headers, with names in lower case.
  var headers: [String: String] = [:]
  /// Waits for a duration; throws if the request is cancelled or the server shuts down.
  var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}
