internal import Foundation

/// Three `redis-server` processes that form a cluster, running as long as this value lives.
public final class ClusterServers: Sendable {
  /// The reason why there is no cluster.
  public struct DidNotForm: Error {
    public let state: [String]
  }

  /// The nodes. Each has a third of the slots, the first one those from 0.
  public let nodes: [RedisServer]

  private let settings: [String]

  private static let slots = 16_384
  /// Only a hanging test waits that long.
  private static let patience = Duration.seconds(120)

  /// Starts the nodes and joins them.
  ///
  /// - Parameters:
  ///   - arguments: Settings of each redis-server.
  ///   - empty: The number of further nodes without slots.
  public init(_ arguments: [String] = [], empty: Int = 0) async throws {
    var nodes: [RedisServer] = []
    let settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", "60000", "--cluster-require-full-coverage", "no"]
    for _ in 0..<3 + empty { nodes.append(try await RedisServer(settings + arguments)) }
    self.nodes = nodes
    self.settings = settings + arguments
    for (number, node) in nodes.enumerated() {
      if number < 3 {
        let range = (Self.slots * number / 3, Self.slots * (number + 1) / 3 - 1)
        _ = try node.ask("CLUSTER", "ADDSLOTSRANGE", "\(range.0)", "\(range.1)")
      }
      // Nodes with the same epoch would dispute about slots that move.
      _ = try node.ask("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
      if number > 0 { _ = try node.ask("CLUSTER", "MEET", "127.0.0.1", "\(nodes[0].port)") }
    }
    try await wait {
      let state = try $0.ask("CLUSTER", "INFO")
      return try state.contains("cluster_state:ok") && state.contains("cluster_slots_assigned:\(Self.slots)")
        && $0.knownNodes() == nodes.count
    }
  }

  /// Starts a node that has a copy of the data of a master, and could take its place.
  public func addReplica(of master: Int) async throws -> RedisServer {
    let replica = try await RedisServer(settings)
    _ = try replica.ask("CLUSTER", "MEET", "127.0.0.1", "\(nodes[master].port)")
    try await wait(for: nodes + [replica]) { try $0.knownNodes() == nodes.count + 1 }
    _ = try replica.ask("CLUSTER", "REPLICATE", try nodes[master].ask("CLUSTER", "MYID"))
    try await wait(for: [replica]) { try $0.ask("INFO", "replication").contains("master_link_status:up") }
    return replica
  }

  /// Waits until a condition is true for all nodes.
  public func wait(for some: [RedisServer]? = nil, _ condition: (RedisServer) throws -> Bool) async throws {
    let end = ContinuousClock.now + Self.patience
    while true {
      if try (some ?? nodes).allSatisfy(condition) { return }
      guard .now < end else { throw DidNotForm(state: try nodes.map { try $0.ask("CLUSTER", "NODES") }) }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The position of the node that has a slot, as the first node sees it.
  public func owner(of slot: Int) throws -> Int {
    let lines = try nodes[0].ask("CLUSTER", "NODES").split(separator: "\n")
    for line in lines {
      let words = line.split(separator: " ")
      let ranges = words.dropFirst(8).filter { !$0.hasPrefix("[") }.map { $0.split(separator: "-").compactMap { Int($0) } }
      guard ranges.contains(where: { ($0.first ?? .max) <= slot && slot <= ($0.last ?? .min) }) else { continue }
      if let place = nodes.firstIndex(where: { words[1].contains(":\($0.port)@") }) { return place }
    }
    throw DidNotForm(state: lines.map(String.init))
  }

  /// The slot of a key.
  public func slot(of key: String, at node: Int = 0) throws -> Int { Int(try nodes[node].ask("CLUSTER", "KEYSLOT", key)) ?? 0 }

  // MARK: Moving

  /// Begins to move a slot: keys that are not there are asked for at the target.
  public func beginMove(of slot: Int, from source: Int, to target: Int) throws {
    _ = try nodes[target].ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", try nodes[source].ask("CLUSTER", "MYID"))
    _ = try nodes[source].ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", try nodes[target].ask("CLUSTER", "MYID"))
  }

  /// Moves some keys of a slot that is being moved. Returns whether there were any.
  public func moveKeys(of slot: Int, from source: Int, to target: Int, at most: Int = 10) throws -> Bool {
    let keys = try nodes[source].ask("--raw", "CLUSTER", "GETKEYSINSLOT", "\(slot)", "\(most)").split(separator: "\n").map(
      String.init)
    guard !keys.isEmpty else { return false }
    let answer = try nodes[source].ask(["MIGRATE", "127.0.0.1", "\(nodes[target].port)", "", "0", "60000", "KEYS"] + keys)
    return !answer.isEmpty
  }

  /// Ends the move of a slot.
  ///
  /// - Parameter places: The nodes that are informed, the target first, so there is always a node for the slot; nil for all.
  public func endMove(of slot: Int, to target: Int, at places: [Int]? = nil) throws {
    let id = try nodes[target].ask("CLUSTER", "MYID")
    for place in places ?? [target] + nodes.indices.filter({ $0 != target }) {
      _ = try nodes[place].ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", id)
    }
  }

  /// Moves a slot with all its keys.
  public func move(_ slot: Int, from source: Int, to target: Int) throws {
    try beginMove(of: slot, from: source, to: target)
    while try moveKeys(of: slot, from: source, to: target) {}
    try endMove(of: slot, to: target)
  }
}

extension RedisServer {
  /// The number of nodes with which there is a connection of the cluster.
  fileprivate func knownNodes() throws -> Int {
    try ask("CLUSTER", "NODES").split(separator: "\n").count { $0.contains(" connected") && !$0.contains("handshake") }
  }
}
