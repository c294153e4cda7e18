internal import NIOCore
internal import Synchronization

/// The open connections of a server, for a graceful shutdown.
final class OpenConnections: Sendable {
  /// An event for each connection when the server shuts down: the current request is the last one.
  struct Drain: Sendable {}

  /// An event for each connection when the time for the shutdown is over: it closes now.
  struct End: Sendable {}

  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var onEmpty: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let draining = Atomic<Bool>(false)
  /// The unsent response bytes of all connections.
  let unsent: UnsentTotal

  init(unsent: UnsentTotal) { self.unsent = unsent }

  /// Whether the server is shutting down.
  var isDraining: Bool { draining.load(ordering: .relaxed) }

  var count: Int { state.withLock { $0.channels.count } }

  /// Adds a connection. Returns true also if it was added before; false if the maximum is reached.
  func insert(_ channel: any Channel, maximum: Int) -> Bool {
    let isTaken = state.withLock { state in
      guard state.channels.count < maximum || state.channels[ObjectIdentifier(channel)] != nil else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
    if isTaken, isDraining { channel.pipeline.fireUserInboundEventTriggered(Drain()) }
    return isTaken
  }

  func remove(_ channel: any Channel) {
    let waiters = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = nil
      guard state.channels.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { state.onEmpty = [] }
      return state.onEmpty
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Closes idle connections now, and the others after their current response.
  func drain() {
    draining.store(true, ordering: .relaxed)
    for channel in state.withLock({ Array($0.channels.values) }) { channel.pipeline.fireUserInboundEventTriggered(Drain()) }
  }

  /// Closes all connections now.
  func closeAll() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.pipeline.fireUserInboundEventTriggered(End()) }
  }

  /// Returns once the last connection is closed.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if !state.channels.isEmpty { state.onEmpty.append(continuation) }
        return state.channels.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
  }
}
