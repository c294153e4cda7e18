internal import CarabinerRESP

/// Which node has each slot, as the answer of `CLUSTER SLOTS` says.
///
/// An answer is checked whole: a malformed one, or one with too many nodes, is not used.
struct SlotMap: Sendable, Equatable {
  /// The reason why an answer is not used.
  struct Fault: Error, Equatable {
    let reason: String
  }

  /// The masters, in the order in which the answer names them first.
  private(set) var nodes: [RedisURL] = []
  /// For each slot the position of its node plus 1; 0 if no node has it.
  private var places: [UInt16] = []

  /// A map in which no node has a slot.
  init() {}

  /// Reads the answer of `CLUSTER SLOTS`.
  ///
  /// - Parameters:
  ///   - reply: Each value has the first and last slot, and the master with its host and port.
  ///   - server: The node that answered, whose host is meant if the answer names none, and whose scheme all nodes have.
  ///   - maximumNodes: With more masters the answer is not used.
  init(_ reply: Reply, from server: RedisURL, maximumNodes: Int) throws(Fault) {
    guard reply.kind == .array else { throw Fault(reason: "it is not a list") }
    var positions: [RedisURL: UInt16] = [:]
    places = Array(repeating: 0, count: HashSlot.count)
    for entry in reply.values {
      let parts = Array(entry.values.prefix(3))
      guard parts.count == 3, let first = parts[0].integer.flatMap({ HashSlot($0) }),
        let last = parts[1].integer.flatMap({ HashSlot($0) }), first.number <= last.number
      else { throw Fault(reason: "a range of slots is malformed") }
      let address = Array(parts[2].values.prefix(2))
      guard address.count == 2, address[0].isNull || address[0].string != nil, let port = address[1].integer,
        let node = server.node(host: address[0].string ?? "", port: port)
      else { throw Fault(reason: "the address of a node is malformed") }
      if positions[node] == nil {
        guard nodes.count < min(maximumNodes, Int(UInt16.max) - 1) else {
          throw Fault(reason: "there are more than \(maximumNodes) masters")
        }
        nodes.append(node)
        positions[node] = UInt16(nodes.count)
      }
      let position = positions[node] ?? 0
      // A slot with two masters is refused, so the work never exceeds the number of slots.
      for slot in first.number...last.number {
        guard places[slot] == 0 else { throw Fault(reason: "a slot has two masters") }
        places[slot] = position
      }
    }
  }

  /// The node that has a slot; nil if it is not known.
  subscript(slot: HashSlot) -> RedisURL? {
    guard !places.isEmpty, places[slot.number] > 0 else { return nil }
    return nodes[Int(places[slot.number]) - 1]
  }

  /// Notes that a slot has moved to a node. Nothing changes if it is not among ``nodes``.
  mutating func move(_ slot: HashSlot, to node: RedisURL) {
    guard let position = nodes.firstIndex(of: node) else { return }
    places[slot.number] = UInt16(position + 1)
  }
}

extension RedisURL {
  /// Another node of the cluster, with the scheme of this one; nil if the address is malformed.
  ///
  /// - Parameter host: Empty or `?` for the host of this node.
  func node(host: String, port: Int) -> RedisURL? {
    RedisURL(host: host.isEmpty || host == "?" ? self.host : host, port: port, usesTLS: usesTLS)
  }
}
