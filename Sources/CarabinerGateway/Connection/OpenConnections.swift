internal import NIOCore
internal import Synchronization

/// The connections of a server, so that they can be ended in good order.
final class OpenConnections: Sendable {
  /// Tells a connection that the server is going: no request after this one.
  struct Drain: Sendable {}

  /// Tells a connection that the server is gone: it ends now.
  struct End: Sendable {}

  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var onEmpty: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let draining = Atomic<Bool>(false)
  /// The answers that their clients have not taken.
  let unsent: UnsentTotal

  init(unsent: UnsentTotal) { self.unsent = unsent }

  /// Whether the server is going.
  var isDraining: Bool { draining.load(ordering: .relaxed) }

  var count: Int { state.withLock { $0.channels.count } }

  /// Takes a connection in, or leaves it there; false if there are as many as there may be.
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

  /// Ends the idle connections now and the others with their answers.
  func drain() {
    draining.store(true, ordering: .relaxed)
    for channel in state.withLock({ Array($0.channels.values) }) { channel.pipeline.fireUserInboundEventTriggered(Drain()) }
  }

  /// Ends all connections now.
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
