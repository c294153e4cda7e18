internal import CarabinerRESP
internal import Synchronization

/// The servers that a connection is made to: the first one that can be reached.
///
/// In a cluster, the nodes that it named are tried after those of the settings, so the store outlives the servers of the settings.
final class RedisAddresses: Sendable {
  private let given: [RedisURL]
  private let found = Mutex<[RedisURL]>([])

  init(_ given: [RedisURL]) { self.given = given }

  /// All servers, in the order in which they are tried.
  var list: [RedisURL] { given + found.withLock { $0 } }

  /// Replaces the nodes that the cluster named.
  func set(_ nodes: [RedisURL]) {
    let others = nodes.filter { !given.contains($0) }
    found.withLock { $0 = others }
  }
}
