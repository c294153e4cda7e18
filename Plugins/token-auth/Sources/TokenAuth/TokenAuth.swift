internal import CarabinerPlugin

/// Adds a token to every request, and fetches a new one when the server rejects it.
///
/// It is a stage of the `graphql` list, where it also sees the errors in results, or of the `http` list.
struct TokenAuth: GraphQL.Stage, GraphQL.OnResult, GraphQL.OnError, Handover {
  static let identity = PluginIdentity(
    id: "org.carabiner.token-auth", version: "1.0.0",
    configurationSchema: """
      {"type": "object", "additionalProperties": false, "required": ["token-url"], "properties": {
        "token-url": {"type": "string", "minLength": 1}, "client-id": {"type": "string"},
        "client-secret": {"type": "string"}, "scope": {"type": "string"}, "token": {"type": "string"},
        "header": {"type": "string", "minLength": 1}, "scheme": {"type": "string"},
        "timeout-seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 300}}}
      """)
  static let graphQL = StageParts(needs: .errors, mutates: .headers)

  private let settings: TokenSettings
  private let tokens: TokenStore
  private let host: PluginHost

  init(configuration: PluginConfiguration, host: PluginHost) throws {
    settings = try configuration.decode(TokenSettings.self)
    try settings.check()
    tokens = TokenStore(settings: settings, host: host)
    self.host = host
  }

  func onRequest(_ call: GraphQL.Call, _ attempt: inout Attempt) throws -> Verdict {
    try authorize(attempt) { try call.setHeader(header, to: $0) }
  }

  func onResult(_ call: GraphQL.Call, _ result: borrowing ResultEvent, _ attempt: inout Attempt) throws -> Verdict {
    guard result.hasErrors, result.errors?.contains("\"UNAUTHENTICATED\"") == true else { return .continue }
    return refreshOnce(attempt)
  }

  func onError(_ call: GraphQL.Call, _ error: borrowing ErrorEvent, _ attempt: inout Attempt) throws -> Verdict {
    error.httpStatus == 401 ? refreshOnce(attempt) : .continue
  }

  /// A token is kept across reloads. Otherwise the new instance would have to fetch another one.
  static let stateVersion: UInt32 = 1

  func save() throws -> [UInt8]? { try tokens.saved() }

  func adopt(_ bytes: [UInt8], version: UInt32) throws { try tokens.adopt(bytes) }

  /// The name of the header.
  var header: String { settings.header ?? "Authorization" }

  /// Passes the value of the header to a function, after a fetch if there is no usable token.
  func authorize(_ attempt: Attempt, _ setHeader: @escaping @Sendable (String) throws -> Void) throws -> Verdict {
    if let token = tokens.usable(at: host.clockNanoseconds) {
      try setHeader(try value(of: token, for: attempt))
      return .continue
    }
    return .later {
      try setHeader(try value(of: try await tokens.refreshed(after: nil), for: attempt))
      return .continue
    }
  }

  private func value(of token: Token, for attempt: Attempt) throws -> String {
    attempt.note(token.generation)
    // The token comes from a server and may contain characters that are not allowed in a header.
    guard token.text.canStandInHeader else {
      throw PluginFailure("the token from the token server has a character that a header cannot contain")
    }
    return settings.scheme.map { $0.isEmpty ? token.text : "\($0) \(token.text)" } ?? "Bearer \(token.text)"
  }

  /// Fetches a new token once per request. If the server rejects that one too, its error is the result.
  func refreshOnce(_ attempt: Attempt) -> Verdict {
    guard let used = attempt.beginRefresh() else { return .continue }
    // Another request has fetched a newer token in the meantime.
    if let current = tokens.current, current.generation > used { return .retry }
    return .later {
      _ = try await tokens.refreshed(after: used)
      return .retry
    }
  }
}
