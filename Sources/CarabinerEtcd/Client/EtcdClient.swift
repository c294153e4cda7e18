package import Carabiner
internal import CarabinerCurl
internal import CarabinerWire
internal import FoundationEssentials
internal import Synchronization

/// Requests to etcd through its JSON gateway.
package final class EtcdClient: Sendable {
  private struct State {
    /// The index of the member that answered last.
    var member = 0
    var token: String?
    var logins = 0
  }

  package let settings: EtcdSettings
  private let transport: any HTTPTransport
  private let state = Mutex(State())

  /// A client with connections of its own.
  ///
  /// - Throws: ``EtcdError`` with code `invalidSettings`, or `TransportError` if there are no descriptors or threads left.
  package convenience init(_ settings: EtcdSettings) throws {
    try self.init(settings, over: CurlTransport(configuration: settings.transport))
  }

  /// A client over a transport with the settings of ``EtcdSettings/transport``.
  ///
  /// - Throws: ``EtcdError`` with code `invalidSettings`.
  package init(_ settings: EtcdSettings, over transport: any HTTPTransport) throws(EtcdError) {
    try settings.check()
    self.settings = settings
    self.transport = transport
  }

  /// The number of logins so far.
  package var logins: Int { state.withLock(\.logins) }

  // MARK: Requests

  /// Reads keys.
  ///
  /// - Throws: ``EtcdError``, or `CancellationError`, as all requests do.
  package func range(_ read: EtcdRequest.Read) async throws -> EtcdRange {
    try complete(EtcdRange(await send(.range(read, limit: settings.limits.keys))))
  }

  /// Reads all these keys at one revision.
  package func ranges(_ reads: [EtcdRequest.Read]) async throws -> EtcdTransaction {
    let result = try EtcdTransaction(await send(.ranges(reads, limit: settings.limits.keys)))
    guard result.ranges.count == reads.count else {
      throw EtcdError(
        .malformed, "etcd answers \(result.ranges.count) of \(reads.count) reads; check its version, 3.4 or later")
    }
    for range in result.ranges { _ = try complete(range) }
    return result
  }

  /// Makes changes if all conditions hold; otherwise reads the keys of the conditions.
  ///
  /// - Throws: Code `uncertain` if the answer was lost after the transaction was sent. Read the keys before it is repeated.
  package func transaction(
    if conditions: [EtcdRequest.Condition], then changes: [EtcdRequest.Change]
  ) async throws -> EtcdTransaction {
    try EtcdTransaction(await send(.transaction(if: conditions, then: changes)))
  }

  /// Makes a lease of so many seconds.
  package func lease(seconds: Int) async throws -> EtcdLease { try EtcdLease(await send(.lease(seconds: seconds))) }

  /// Renews a lease.
  ///
  /// - Returns: Nil if the lease is gone.
  package func keepAlive(_ lease: EtcdLease) async throws -> EtcdLease? {
    let renewed = try EtcdLease(await send(.keepAlive(lease.id)))
    return renewed.seconds > 0 ? renewed : nil
  }

  private func complete(_ range: EtcdRange) throws(EtcdError) -> EtcdRange {
    guard !range.hasMore, range.values.count <= settings.limits.keys else {
      throw EtcdError(
        .malformed, "etcd has more than \(settings.limits.keys) keys under a prefix; remove those that are not in use")
    }
    return range
  }

  // MARK: Members

  /// The index of the member that is asked first.
  var member: Int { state.withLock(\.member) }

  /// Asks another member first from now on.
  ///
  /// - Parameter index: The member that failed. If another one answered since, that one stays the first.
  func leave(_ index: Int) {
    state.withLock { if $0.member == index { $0.member = (index + 1) % settings.members.count } }
  }

  // MARK: Logins

  /// Runs a request with a token, and once again with a new one if etcd refuses the token.
  ///
  /// - Parameter orDenied: Whether a denial may be that of the token.
  func authorized<Answer: Sendable>(
    orDenied: Bool = false, _ request: (HTTPHeaders) async throws -> Answer
  ) async throws -> Answer {
    guard let login = settings.login else { return try await request([:]) }
    // The first token, and the one that another request has got meanwhile. Both may have ended.
    for _ in 0..<2 {
      guard let token = state.withLock(\.token) else { break }
      do {
        return try await request(["Authorization": token])
      } catch let error as EtcdError where error.code == .unauthenticated || orDenied && error.code == .denied {
        state.withLock { if $0.token == token { $0.token = nil } }
      }
    }
    return try await request(["Authorization": logIn(login)])
  }

  private func logIn(_ login: EtcdSettings.Login) async throws -> String {
    let reply = try EtcdReply.read(await ask(.login(user: login.user, password: login.password), [:]))
    guard let token = reply["token"]?.string, HTTPHeaders.Field(name: "Authorization", value: token).isWellFormed else {
      throw EtcdError(.malformed, "the answer of etcd to the login has no token; check that the address is one of etcd")
    }
    state.withLock { state in
      state.token = token
      state.logins += 1
    }
    return token
  }

  // MARK: One exchange

  private func send(_ request: EtcdRequest) async throws -> [UInt8] {
    try await authorized { headers in try await ask(request, headers) }
  }

  /// Asks one member after the other, from the one that answered last.
  private func ask(_ request: EtcdRequest, _ headers: HTTPHeaders) async throws -> [UInt8] {
    let first = member
    var failures: [String] = []
    for offset in settings.members.indices {
      let index = (first + offset) % settings.members.count
      do {
        let answer = try await exchange(request, headers, with: index)
        state.withLock { $0.member = index }
        return answer
      } catch let error as EtcdError where error.code == .unavailable {
        failures.append(error.message)
      }
    }
    throw EtcdError(.unavailable, failures.joined(separator: "; "))
  }

  private func exchange(_ request: EtcdRequest, _ headers: HTTPHeaders, with index: Int) async throws -> [UInt8] {
    var headers = headers
    if request.needsLeader { headers[Self.leaderField] = "true" }
    do {
      let response = try await open(
        request.path, request.bytes, headers, with: index, timeout: settings.limits.timeout, isRepeatable: request.isRepeatable)
      let bytes = try await body(of: response)
      guard response.response.statusCode == 200 else { throw Self.failure(response.response.statusCode, bytes) }
      return bytes
    } catch let error as TransportError where !error.mayHaveBeenSent || request.isRepeatable {
      throw EtcdError(.unavailable, "etcd cannot be reached: \(error)")
    } catch let error as TransportError {
      throw Self.uncertain("\(error)")
    } catch let error as EtcdError where error.code == .unavailable && !request.isRepeatable {
      // A member without a leader has not forwarded the request.
      if error.message.contains("no leader") { throw error }
      throw Self.uncertain(error.message)
    }
  }

  /// With this field, a member that has lost the others refuses a request and ends a watch. Without it, a watch stays silent for ever.
  static let leaderField = "Grpc-Metadata-hasleader"

  /// Sends one request to one member.
  func open(
    _ path: String, _ body: [UInt8], _ headers: HTTPHeaders, with index: Int, timeout: Double, isRepeatable: Bool = true
  ) async throws -> HTTPResponse {
    var request = URLRequest(
      url: settings.members[index].appending(path: path), headers: headers, httpBody: Data(body), timeoutInterval: timeout)
    request.headers["Content-Type"] = "application/json"
    request.decodesContent = false
    request.isIdempotent = isRepeatable
    return try await transport.send(request)
  }

  func body(of response: HTTPResponse) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await chunk in response.chunks {
      guard bytes.count + chunk.count <= settings.limits.answerBytes else {
        throw EtcdError(
          .malformed,
          "an answer of etcd has more than \(settings.limits.answerBytes) bytes; use a prefix with fewer or smaller keys")
      }
      bytes.append(contentsOf: chunk)
    }
    return bytes
  }

  private static func uncertain(_ reason: String) -> EtcdError {
    EtcdError(
      .uncertain,
      "etcd may have made the transaction, but its answer was lost; read the keys before you repeat it: \(reason)")
  }

  /// The error for an answer with another status than 200.
  static func failure(_ status: Int, _ body: [UInt8]) -> EtcdError {
    do throws(EtcdError) {
      _ = try EtcdReply.read(body)
    } catch {
      if error.code != .malformed { return error }
    }
    let text = EtcdReply.printable(String(decoding: body.prefix(1024), as: UTF8.self))
    // The gateway would use the name for its own connection to etcd, so it refuses the request, with a text in place of JSON.
    if status == 400, text.contains("CommonName") {
      return EtcdError(
        .denied,
        "etcd refuses client certificates with a common name at its JSON gateway; make a certificate with an empty CN: \(text)")
    }
    let code: EtcdError.Code =
      switch status {
      case 401: .unauthenticated
      case 403: .denied
      case 502, 503, 504: .unavailable
      default: .refused
      }
    return EtcdError(
      code,
      "etcd answers with status \(status): \(text); check that the address is one of etcd 3.4 or later, with its gateway enabled")
  }
}
