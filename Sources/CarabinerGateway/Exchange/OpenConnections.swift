internal import NIOCore
internal import Synchronization

/// The open connections of a server, for a graceful shutdown.
final class OpenConnections: Sendable {
  /// An event for each connection when the server shuts down: the current request is the last one.
  struct Drain: Sendable {}

  /// An event for each connection when the time for the shutdown is over: it closes now.
  struct End: Sendable {}

  /// How far the shutdown is.
  private enum Phase: UInt8, AtomicRepresentable {
    case open
    /// All requests are served, and HTTP/1.1 connections are closed after their next response.
    case lameDuck
    case draining
  }

  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var onEmpty: [CheckedContinuation<Void, Never>] = []
    /// The responses that do not end by themselves.
    var endless: [ObjectIdentifier: GatewayReply] = [:]
  }

  private let state = Mutex(State())
  private let phase = Atomic<Phase>(.open)
  /// The unsent response bytes of all connections.
  let unsent: UnsentTotal
  /// The timers of all connections.
  let timers = SharedTimers()

  init(unsent: UnsentTotal) { self.unsent = unsent }

  /// Whether the server is shutting down.
  var isDraining: Bool { phase.load(ordering: .relaxed) == .draining }

  /// Whether a request that begins now is the last one of its HTTP/1.1 connection.
  var takesLastRequests: Bool { phase.load(ordering: .relaxed) != .open }

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

  /// Closes HTTP/1.1 connections after the next response. Idle connections stay open, and all requests are served.
  func beginLameDuck() { _ = phase.compareExchange(expected: .open, desired: .lameDuck, ordering: .relaxed) }

  /// Closes idle connections, and the others after their current response. A connection that was used just before may send a last
  /// request. Endless responses end.
  func drain() {
    phase.store(.draining, ordering: .relaxed)
    let (channels, endless) = state.withLock { (Array($0.channels.values), Array($0.endless.values)) }
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(Drain()) }
    for reply in endless { reply.drain() }
  }

  /// Adds a response that does not end by itself. It is drained now if the shutdown has begun.
  func add(endless reply: GatewayReply) {
    state.withLock { $0.endless[ObjectIdentifier(reply)] = reply }
    if isDraining { reply.drain() }
  }

  func remove(endless reply: GatewayReply) { state.withLock { $0.endless[ObjectIdentifier(reply)] = nil } }

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
