internal import CarabinerPlugin

/// Puts a token on every request, and gets a new one when the server no longer takes it.
struct TokenAuth: GraphQLPlugin {
  static let identity = PluginIdentity(
    id: "org.carabiner.token-auth", version: "1.0.0",
    configurationSchema: """
      {"type": "object", "additionalProperties": false, "required": ["token-url"], "properties": {
        "token-url": {"type": "string", "minLength": 1}, "client-id": {"type": "string"},
        "client-secret": {"type": "string"}, "scope": {"type": "string"}, "token": {"type": "string"},
        "header": {"type": "string", "minLength": 1}, "scheme": {"type": "string"},
        "timeout-seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 300}}}
      """,
    needs: [.errors], mutates: [.headers])

  private let settings: TokenSettings
  private let tokens: TokenStore
  private let attempts = RefreshMemory()
  private let host: PluginHost

  init(configuration: PluginConfiguration, host: PluginHost) throws {
    settings = try configuration.decode(TokenSettings.self)
    tokens = TokenStore(settings: settings, host: host)
    self.host = host
  }

  func onRequest(_ call: PluginCall) throws -> HookAnswer {
    if let token = tokens.usable(at: host.nowNanoseconds) {
      try send(token, with: call)
      return .continue
    }
    return .later {
      let token = try await tokens.refreshed(after: nil)
      try send(token, with: call)
      return .continue
    }
  }

  func onResult(_ result: PluginResult, _ call: PluginCall) throws -> HookAnswer {
    guard let errors = result.errors, errors.contains("\"UNAUTHENTICATED\"") else {
      attempts.forget(call.requestID)
      return .continue
    }
    return refreshOnce(call)
  }

  func onError(_ error: PluginCallError, _ call: PluginCall) throws -> HookAnswer {
    guard error.httpStatus == 401 else {
      attempts.forget(call.requestID)
      return .continue
    }
    return refreshOnce(call)
  }

  private func send(_ token: Token, with call: PluginCall) throws {
    attempts.note(token.generation, for: call.requestID)
    let value = settings.scheme.map { $0.isEmpty ? token.text : "\($0) \(token.text)" } ?? "Bearer \(token.text)"
    try call.setHeader(settings.header ?? "Authorization", to: value)
  }

  /// A request gets one new token. If that is refused too, the refusal is the answer.
  private func refreshOnce(_ call: PluginCall) -> HookAnswer {
    guard let used = attempts.beginRefresh(for: call.requestID) else { return .continue }
    // Somebody else has fetched a newer token meanwhile: it is good enough.
    if let current = tokens.current, current.generation > used { return .retry() }
    return .later {
      _ = try await tokens.refreshed(after: used)
      return .retry()
    }
  }
}

/// The plugin's configuration.
struct TokenSettings: Decodable, Sendable {
  let tokenURL: String
  let clientID: String?
  let clientSecret: String?
  let scope: String?
  let token: String?
  let header: String?
  let scheme: String?
  let timeoutSeconds: Double?

  enum CodingKeys: String, CodingKey {
    case tokenURL = "token-url"
    case clientID = "client-id"
    case clientSecret = "client-secret"
    case scope, token, header, scheme
    case timeoutSeconds = "timeout-seconds"
  }
}
