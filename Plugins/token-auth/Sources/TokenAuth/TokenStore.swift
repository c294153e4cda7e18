internal import CarabinerPlugin
internal import FoundationEssentials
internal import Synchronization

/// A token, with a number that shows which one is newer.
struct Token: Sendable {
  let text: String
  /// Increases with every fetched token.
  let generation: UInt64
  /// The expiry on the host's clock, in nanoseconds; nil if the server did not give one.
  let expiry: UInt64?
}

/// The current token. All requests that need a new token wait for the same fetch.
final class TokenStore: Sendable {
  private struct State {
    var token: Token?
    var fetch: Task<Token, any Error>?
  }

  /// A token is renewed this long before it expires, in nanoseconds.
  private static let margin: UInt64 = 5_000_000_000

  private let settings: TokenSettings
  private let host: PluginHost
  private let state: Mutex<State>

  init(settings: TokenSettings, host: PluginHost) {
    self.settings = settings
    self.host = host
    state = Mutex(State(token: settings.token.map { Token(text: $0, generation: 0, expiry: nil) }))
  }

  var current: Token? { state.withLock { $0.token } }

  /// The current token, unless it expires soon.
  func usable(at now: UInt64) -> Token? {
    current.flatMap { token in token.expiry.map { $0 > now + Self.margin } ?? true ? token : nil }
  }

  /// A token newer than the generation `used`. It is fetched once for all callers.
  ///
  /// The fetch is a task of its own, so that it continues for the other callers if one is cancelled.
  func refreshed(after used: UInt64?) async throws -> Token {
    let now = host.clockNanoseconds
    let task: Task<Token, any Error> = state.withLock { state in
      if let token = state.token, token.generation > used ?? 0 || used == nil,
        token.expiry.map({ $0 > now + Self.margin }) ?? true
      {
        return Task { token }
      }
      if let running = state.fetch { return running }
      let generation = (state.token?.generation ?? 0) + 1
      let started = Task { [self] in
        let result = await Result(catching: { try await fetch(generation) })
        self.state.withLock { state in
          state.fetch = nil
          if case .success(let token) = result { state.token = token }
        }
        return try result.get()
      }
      state.fetch = started
      return started
    }
    return try await value(of: task)
  }

  /// Waits for the shared task until this caller is cancelled.
  private func value(of task: Task<Token, any Error>) async throws -> Token {
    let (tokens, sink) = AsyncThrowingStream<Token, any Error>.makeStream()
    Task {
      switch await task.result {
      case .success(let token):
        sink.yield(token)
        sink.finish()
      case .failure(let error): sink.finish(throwing: error)
      }
    }
    for try await token in tokens { return token }
    throw CancellationError()
  }

  // MARK: Handover at a reload

  /// A fetched token with the settings it was fetched with. It is not valid with other settings.
  private struct Saved: Codable {
    let tokenURL: String
    let clientID: String?
    let scope: String?
    let configured: String?
    /// A hash of the client secret. It shows whether the secret changed, so that the secret itself is not stored.
    let secretMark: UInt64
    let text: String
    let expiry: UInt64?
  }

  /// The token for the next instance; nil if none was fetched.
  func saved() throws -> [UInt8]? {
    guard let token = current, token.generation > 0 else { return nil }
    return Array(
      try JSONEncoder().encode(
        Saved(
          tokenURL: settings.tokenURL, clientID: settings.clientID, scope: settings.scope, configured: settings.token,
          secretMark: settings.clientSecret.mark, text: token.text, expiry: token.expiry)))
  }

  /// - Throws: ``PluginFailure`` if the bytes are not a saved token, or one of other settings.
  func adopt(_ bytes: [UInt8]) throws {
    let saved: Saved
    do {
      saved = try JSONDecoder().decode(Saved.self, from: Data(bytes))
    } catch {
      // The decoding error is not shown: it may contain the token.
      throw PluginFailure("these bytes are not a token that token-auth has saved")
    }
    guard saved.tokenURL == settings.tokenURL, saved.clientID == settings.clientID, saved.scope == settings.scope,
      saved.configured == settings.token, saved.secretMark == settings.clientSecret.mark
    else { throw PluginFailure("the settings differ from those the token was fetched with; a new token is fetched") }
    guard saved.text.canStandInHeader else { throw PluginFailure("the token has a character that a header cannot contain") }
    state.withLock { $0.token = Token(text: saved.text, generation: 1, expiry: saved.expiry) }
  }

  private struct Answer: Decodable {
    let token: String
    let lifetime: Double?

    enum CodingKeys: String, CodingKey {
      case token = "access_token"
      case lifetime = "expires_in"
    }
  }

  private func fetch(_ generation: UInt64) async throws -> Token {
    var fields = [("grant_type", "client_credentials")]
    for (name, value) in [
      ("client_id", settings.clientID), ("client_secret", settings.clientSecret), ("scope", settings.scope),
    ] {
      if let value { fields.append((name, value)) }
    }
    let form = fields.map { "\($0.0)=\($0.1.formEncoded)" }.joined(separator: "&")
    let response = try await host.fetch(
      settings.tokenURL, method: "POST",
      headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")], body: Array(form.utf8),
      timeout: .seconds(settings.timeoutSeconds ?? 10))
    guard (200..<300).contains(response.status) else {
      throw PluginFailure("the token server answered with status \(response.status); check client-id and client-secret")
    }
    let answer: Answer
    do {
      answer = try JSONDecoder().decode(Answer.self, from: Data(response.body))
    } catch {
      // The body is not shown: it may contain a token.
      throw PluginFailure("the token server's answer has no access_token")
    }
    let expiry = answer.lifetime.flatMap { lifetime in
      lifetime > 0 && lifetime < 1e9 ? host.clockNanoseconds + UInt64(lifetime * 1e9) : nil
    }
    return Token(text: answer.token, generation: generation, expiry: expiry)
  }
}

extension Result where Failure == any Error {
  fileprivate init(catching body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

extension String? {
  /// FNV-1a. Unlike `hashValue`, it is the same in each copy of this library.
  fileprivate var mark: UInt64 {
    (self ?? "").utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

extension String {
  /// The text in the encoding of HTML forms.
  fileprivate var formEncoded: String {
    let digits = Array("0123456789ABCDEF")
    return utf8.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        text.append(Character(Unicode.Scalar(byte)))
      default:
        text.append("%")
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
      }
    }
  }
}
