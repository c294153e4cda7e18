import Carabiner
import CarabinerCurl
import CarabinerEtcd
import CarabinerWire
import Foundation
import Synchronization
import TestTools
import Testing

/// The common part of the tests of the client.
enum EtcdTest {
  /// Long enough for a busy machine.
  static let patience = Duration.seconds(120)
  /// The same as the time for one answer.
  static let patientSeconds = 60.0

  static func settings(_ urls: [String]) throws -> EtcdSettings {
    var settings = EtcdSettings(members: try urls.map { try #require(URL(string: $0)) })
    settings.limits.timeout = patientSeconds
    return settings
  }

  static func client(_ urls: String..., change: (inout EtcdSettings) -> Void = { _ in }) throws -> EtcdClient {
    var settings = try settings(urls)
    change(&settings)
    return try EtcdClient(settings)
  }
}

extension EtcdServer {
  /// The answer to a request that the client does not make, for example of an administrator.
  func ask(
    _ path: String, _ body: JSONValue, token: String? = nil, over configuration: CurlTransport.Configuration = .init()
  ) async throws -> JSONValue {
    var request = URLRequest(
      url: try #require(URL(string: url + path)), headers: token.map { ["Authorization": $0] } ?? [:],
      httpBody: Data(body.serialized()), timeoutInterval: EtcdTest.patientSeconds)
    request.isIdempotent = true
    let response = try await CurlTransport(configuration: configuration).send(request)
    let answer = try JSONValue(parsing: Array(await response.chunks.collected()))
    #expect(response.response.statusCode == 200, "\(path): \(String(decoding: answer.serialized(), as: UTF8.self))")
    return answer
  }

  /// Makes the users `root` and `node`, who may read the keys under `p/` only, and enables logins. The passwords are `secret`.
  func enableLogins(over configuration: CurlTransport.Configuration = .init()) async throws {
    func ask(_ path: String, _ body: JSONValue) async throws { _ = try await self.ask(path, body, over: configuration) }
    for user in ["root", "node"] { try await ask("/v3/auth/user/add", ["name": .string(user), "password": "secret"]) }
    try await ask("/v3/auth/user/grant", ["user": "root", "role": "root"])
    try await ask("/v3/auth/role/add", ["name": "reader"])
    try await ask(
      "/v3/auth/role/grant",
      [
        "name": "reader",
        "perm": ["permType": "READ", "key": .string(Base64.encoded("p/".utf8)), "range_end": .string(Base64.encoded("p0".utf8))],
      ])
    try await ask("/v3/auth/user/grant", ["user": "node", "role": "reader"])
    try await ask("/v3/auth/enable", [:])
  }
}

extension EtcdClient {
  /// Sets a key.
  @discardableResult func put(_ key: String, _ text: String) async throws -> EtcdTransaction {
    try await transaction(if: [], then: [.put(key, Array(text.utf8))])
  }
}

extension EtcdView {
  /// The values as texts.
  var texts: [String: String] { values.mapValues { String(decoding: $0.value, as: UTF8.self) } }
}

/// A transport that calls a function before it sends a request, and may answer in place of the server.
struct HookedTransport: HTTPTransport {
  let base: CurlTransport
  let hook: @Sendable (URLRequest) async throws -> HTTPResponse?

  init(_ settings: EtcdSettings, hook: @escaping @Sendable (URLRequest) async throws -> HTTPResponse?) throws {
    base = try CurlTransport(configuration: settings.transport)
    self.hook = hook
  }

  func send(_ request: URLRequest) async throws -> HTTPResponse {
    if let response = try await hook(request) { return response }
    return try await base.send(request)
  }
}

/// A number that several tasks count up.
final class Count: Sendable {
  private let number = Mutex(0)

  var value: Int { number.withLock(\.self) }

  /// Counts up, and returns the number before.
  @discardableResult func next() -> Int {
    number.withLock { number in
      defer { number += 1 }
      return number
    }
  }
}
