import CarabinerEtcd
import CarabinerFleet
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Gateways that are the nodes of one fleet, with a real etcd.
final class NodeFleet: Sendable {
  /// Long enough for a busy machine.
  private static let patience = "60s"

  let chain: EtcdChain
  let keys = FleetKeys(prefix: EtcdChain.prefix)
  private let place: FixturePlugin.Folder

  init() async throws {
    chain = try await EtcdChain()
    place = try FixturePlugin.Folder()
  }

  // MARK: Nodes

  /// Starts a node, with a state of its own.
  func start(
    _ name: String, _ arguments: [String] = [], environment: [String: String] = [:], trust: [String] = ["--allow-unsigned"]
  ) throws -> ServeProcess {
    try ServeProcess(
      chain.folder, source: chain.address, endpoint: chain.upstream.endpoint,
      ["--state", chain.folder.file("state-\(name)"), "--node-id", name, "--source-timeout", Self.patience] + trust + arguments,
      environment: environment)
  }

  /// Starts nodes, and waits until each of them reports.
  func start(_ names: [String], trust: [String] = ["--allow-unsigned"]) async throws -> [String: ServeProcess] {
    var nodes: [String: ServeProcess] = [:]
    for name in names { nodes[name] = try start(name, trust: trust) }
    try #require(await eventually { try await self.states().filter { $0.value == "serving" }.count == names.count })
    return nodes
  }

  /// A file with a manifest that differs from others by its version, and its names in order of the roll-out.
  func manifest(_ version: String, _ more: String = "") throws -> (path: String, id: CandidateID) {
    let text = EtcdChain.text(version, more)
    return (try chain.folder.write(text, to: "chain-\(version).yaml"), CandidateID(manifest: Array(text.utf8)))
  }

  /// The part of a manifest with a build of the plugin that stamps responses.
  func plugin(_ definitions: String...) async throws -> String {
    let path = try await FixturePlugin.compile(
      "stamp", defining: definitions, into: place, name: "\(UUID().uuidString).so")
    return "plugins: [{name: stamp, file: \(path)}]\nchain: {http: [stamp, response-code]}\n"
  }

  /// The names in the order in which nodes get a candidate.
  static func order(_ names: some Sequence<String>, for candidate: CandidateID) -> [String] {
    names.map { NodeRank($0, for: candidate) }.sorted().map(\.name)
  }

  // MARK: Commands

  /// Runs `carabiner fleet`, which must succeed.
  ///
  /// - Returns: The JSON that it prints.
  @discardableResult
  func fleet(_ command: String, _ arguments: String...) async throws -> JSONValue {
    let run = try await CommandRun(
      ["fleet", command, "--to", chain.address, "--source-timeout", Self.patience, "--format", "json"] + arguments)
    try #require(run.status == 0, "\(command): \(run.errors)")
    return try JSONValue(parsing: run.output)
  }

  // MARK: Keys

  /// The keys of the fleet in etcd.
  func state() async throws -> FleetState {
    let range = try await chain.client.range(.init(.all(prefix: "\(keys.prefix)/")))
    return FleetState(keys, range.values.map { FleetState.Entry($0.key, $0.value, at: $0.changed) }, at: 0)
  }

  /// The states of all nodes by name.
  func states() async throws -> [String: String] {
    Dictionary(uniqueKeysWithValues: try await state().nodes.map { ("\($0.key)", $0.value.state.rawValue) })
  }

  /// Waits until a node reports a state.
  func reports(_ name: String, _ state: NodeReport.State) async throws -> Bool {
    await eventually { try await states()[name] == state.rawValue }
  }

  /// Waits until the candidate is removed.
  func isOver() async throws -> Bool { await eventually { try await state().candidate == nil } }

  /// Whether the candidate is halted, after some time.
  func isHalted() async throws -> Bool { await eventually { try await state().halt != nil } }

  func put(_ key: FleetKey, _ value: [UInt8]) async throws {
    let result = try await chain.client.transaction(if: [], then: [.put(keys.name(key), value)])
    try #require(result.hasSucceeded)
  }

  /// The changes since a revision, up to the removal of the candidate or its halt.
  func history(since revision: Int) async throws -> [EtcdWatchLine.Event] {
    let watch = try await chain.client.watch(.all(prefix: "\(keys.prefix)/"), from: Int64(revision))
    var events: [EtcdWatchLine.Event] = []
    while true {
      let line = try await watch.next()
      events += line.events
      let isEnd = line.events.contains { event in
        switch event {
        case .put(let value): value.key.hasPrefix(keys.halts)
        case .delete(let key): key == keys.name(.candidate)
        }
      }
      if isEnd { return events }
    }
  }
}

extension [EtcdWatchLine.Event] {
  /// The numbers of stages that began, in order, each with the nodes that had taken the candidate when it began.
  func stages(_ keys: FleetKeys) -> [(stage: Int, takers: Set<String>)] {
    var takers: Set<String> = []
    var stages: [(stage: Int, takers: Set<String>)] = []
    for case .put(let value) in self {
      switch keys.key(named: value.key) {
      case .taken(_, by: let node): takers.insert("\(node)")
      case .stage: if let stage = try? RolloutStage(parsing: value.value) { stages.append((stage.number, takers)) }
      default: break
      }
    }
    return stages
  }

  /// The nodes that wrote a note about the candidate.
  func takers(_ keys: FleetKeys) -> Set<String> {
    var takers: Set<String> = []
    for case .put(let value) in self {
      if case .taken(_, by: let node) = keys.key(named: value.key) { takers.insert("\(node)") }
    }
    return takers
  }
}
