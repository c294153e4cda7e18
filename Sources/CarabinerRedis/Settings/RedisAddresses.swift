internal import CarabinerRESP
internal import Synchronization

/// The servers that a connection is made to: the first one that can be reached.
///
/// In a cluster, the nodes that it named are tried after those of the settings, so the store outlives the servers of the settings.
final class RedisAddresses: Sendable {
  private struct State {
    /// The nodes that the cluster named, without those of the settings.
    var found: [RedisURL] = []
    /// The master of the home slot.
    var home: RedisURL?
    var observers: [@Sendable () -> Void] = []
    /// The servers that have refused commands, because they may not be the primary any more. The last one refused last.
    var refused: [RedisURL] = []
    var refusalObservers: [@Sendable (RedisURL, String) -> Void] = []
  }

  private let given: [RedisURL]
  private let state = Mutex(State())

  init(_ given: [RedisURL]) { self.given = given }

  /// All servers, in the order in which they are tried. Those that have refused commands are the last.
  var list: [RedisURL] {
    let (found, refused) = state.withLock { ($0.found, $0.refused) }
    let all = given + found
    return refused.isEmpty ? all : all.filter { !refused.contains($0) } + refused
  }

  /// The servers for messages, in the order in which they are tried.
  ///
  /// In a cluster, it is only the master of the home slot, as soon as it is known. Each node forwards the messages of all others. A
  /// node that was removed from the cluster forwards none, and the receiver would not notice it.
  var ofMessages: [RedisURL] { state.withLock(\.home).map { [$0] } ?? list }

  /// Replaces the nodes that the cluster named.
  func set(_ nodes: [RedisURL]) {
    let others = nodes.filter { !given.contains($0) }
    state.withLock { $0.found = others }
  }

  /// Sets the master of the home slot. If it is nil, the last known one stays.
  func setHome(_ node: RedisURL?) {
    guard let node else { return }
    let observers = state.withLock { state -> [@Sendable () -> Void] in
      defer { state.home = node }
      return state.home == node ? [] : state.observers
    }
    for observer in observers { observer() }
  }

  /// Notes that a server of the settings refuses commands, with the code of its error.
  func refuse(_ server: RedisURL, _ code: String) {
    guard given.contains(server) else { return }
    let observers = state.withLock { state in
      state.refused.removeAll { $0 == server }
      state.refused.append(server)
      return state.refusalObservers
    }
    for observer in observers { observer(server, code) }
  }

  /// Calls a function when a server refuses commands, on the thread that has noticed it.
  func observeRefusals(_ observer: @escaping @Sendable (RedisURL, String) -> Void) {
    state.withLock { $0.refusalObservers.append(observer) }
  }

  /// Calls a function when the master of the home slot has changed, on the thread that has noticed it.
  func observeHome(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(observer) } }
}
