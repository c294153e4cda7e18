import CarabinerEtcd
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A manifest in a real etcd, and an upstream that shows which manifest serves.
final class EtcdChain: Sendable {
  static let prefix = "fleet/prod"

  let folder: StoreFolder
  let server: EtcdServer
  let client: EtcdClient
  let upstream: DemoServerProcess

  var address: String { "etcd://127.0.0.1:\(server.port)/\(Self.prefix)" }
  var state: [String] { ["--state", folder.file("state")] }

  init() async throws {
    folder = try StoreFolder()
    server = try await EtcdServer.single()
    var settings = EtcdSettings(members: try EtcdAddress("etcd://127.0.0.1:\(server.port)/p").members)
    settings.limits.timeout = 60
    client = try EtcdClient(settings)
    upstream = try DemoServerProcess()
  }

  /// A manifest whose requests say its version.
  static func text(_ version: String, _ more: String = "") -> String {
    "carabiner: 1\nheaders: {x-version: '\(version)'}\n\(more)\n"
  }

  /// - Returns: The revision of the change.
  @discardableResult func put(_ text: String, to key: String = "stable") async throws -> Int64 {
    try await client.transaction(if: [], then: [.put("\(Self.prefix)/\(key)", Array(text.utf8))]).revision
  }

  func remove(_ key: String = "stable") async throws {
    _ = try await client.transaction(if: [], then: [.delete(.one("\(Self.prefix)/\(key)"))])
  }

  func serve(_ arguments: [String] = ["--allow-unsigned"]) throws -> ServeProcess {
    try ServeProcess(folder, source: address, endpoint: upstream.endpoint, state + arguments)
  }
}

extension ServeProcess {
  /// The version of the manifest that serves, as the upstream sees it.
  func version() throws -> String {
    let answer = try JSONValue(parsing: query(#"{ echoHeader(name: "x-version") }"#).text)
    return answer["data"]?["echoHeader"]?.string ?? "none"
  }

  /// Waits until a version serves, with a limit that only a hanging test reaches.
  func serves(_ version: String) async throws -> Bool { await eventually { try self.version() == version } }

  /// Waits for a line of the log.
  func logs(_ text: String) async throws -> Bool { await eventually { self.errors.contains(text) } }
}
