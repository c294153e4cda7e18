import CarabinerEtcd
import CarabinerFleet
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A real etcd with the keys of a fleet, and a folder with manifests.
final class FleetStand: Sendable {
  /// Long enough for a busy machine.
  private static let patience = "60s"

  let server: EtcdServer
  let folder: StoreFolder
  let keys = FleetKeys(prefix: "carabiner/shop")
  private let client: EtcdClient

  var address: String { "etcd://127.0.0.1:\(server.port)/\(keys.prefix)" }

  init() async throws {
    server = try await EtcdServer.single()
    folder = try StoreFolder()
    var settings = EtcdSettings(members: [try #require(URL(string: server.url))])
    settings.limits.timeout = 60
    client = try EtcdClient(settings)
  }

  /// Writes a manifest that differs from others by its number.
  func manifest(_ number: Int, _ rest: String = "") throws -> (path: String, id: CandidateID) {
    let text = "carabiner: 1\nheaders: {x-number: \"\(number)\"}\n\(rest)"
    return (try folder.write(text, to: "chain-\(number).yaml"), CandidateID(manifest: Array(text.utf8)))
  }

  /// Runs `carabiner fleet`.
  func run(_ command: String, _ arguments: String...) async throws -> CommandRun {
    try await CommandRun(["fleet", command, "--to", address, "--source-timeout", Self.patience] + arguments)
  }

  /// Runs `carabiner fleet`, which must succeed.
  ///
  /// - Returns: The JSON that it prints.
  @discardableResult
  func json(_ command: String, _ arguments: String...) async throws -> JSONValue {
    let run = try await CommandRun(
      ["fleet", command, "--to", address, "--source-timeout", Self.patience, "--format", "json"] + arguments)
    try #require(run.status == 0, "\(command): \(run.errors)")
    return try JSONValue(parsing: run.output)
  }

  func push(_ path: String, _ arguments: String...) async throws -> CommandRun {
    try await CommandRun(["fleet", "push", "-m", path, "--to", address, "--source-timeout", Self.patience] + arguments)
  }

  func put(_ key: FleetKey, _ value: [UInt8]) async throws {
    let result = try await client.transaction(if: [], then: [.put(keys.name(key), value)])
    try #require(result.hasSucceeded)
  }

  /// Writes the report of a node, as the node does.
  func report(_ name: String, _ state: NodeReport.State, of candidate: CandidateID? = nil, reason: String? = nil) async throws {
    let record = NodeRecord(
      version: "2.1.0", state: state, candidate: candidate, generation: 3, since: 1_764_200_000, reason: reason)
    try await put(.node(try #require(NodeName(name))), record.bytes)
  }

  /// The keys of etcd and their values, without the reports of nodes.
  func values() async throws -> [String: [UInt8]] {
    let range = try await client.range(.init(.all(prefix: "\(keys.prefix)/")))
    let pairs = range.values.filter { !$0.key.hasPrefix(keys.nodes) }.map {
      (String($0.key.dropFirst(keys.prefix.count + 1)), $0.value)
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// A text that the values of etcd must contain.
  func value(_ name: String) async throws -> String? {
    try await values()[name].map { String(decoding: $0, as: UTF8.self) }
  }
}
