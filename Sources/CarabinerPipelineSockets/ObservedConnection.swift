internal import CarabinerWebSocket
internal import Dispatch
internal import Synchronization

/// The state of a connection as the user of a transport sees it.
final class ObservedConnection: Sendable {
  private struct State: @unchecked Sendable {
    // Delegates are not Sendable. Their methods are called on one queue.
    weak var transport: WebSocketTransport?
    weak var delegate: (any WebSocketTransportDelegate)?
    var isConnected = false
    var isShutDown = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "carabiner.websocket.delegate")

  var isConnected: Bool { state.withLock { $0.isConnected } }

  /// Whether the user has closed the connection permanently.
  var isShutDown: Bool {
    get { state.withLock { $0.isShutDown } }
    set { state.withLock { $0.isShutDown = newValue } }
  }

  /// The transport that delegate methods get.
  var transport: WebSocketTransport? {
    get { snapshot.transport }
    set { state.withLock { $0.transport = newValue } }
  }

  var delegate: (any WebSocketTransportDelegate)? {
    get { snapshot.delegate }
    set {
      var changed = snapshot
      changed.delegate = newValue
      state.withLock { [changed] state in state.delegate = changed.delegate }
    }
  }

  private var snapshot: State { state.withLock { $0 } }

  /// Notes a change, and calls the delegate.
  func take(_ change: SocketChange) {
    state.withLock { state in
      if case .disconnected = change { state.isConnected = false } else { state.isConnected = true }
    }
    queue.async { self.report(change) }
  }

  private func report(_ change: SocketChange) {
    let now = snapshot
    guard let transport = now.transport, let delegate = now.delegate else { return }
    switch change {
    case .connected: delegate.webSocketTransportDidConnect(transport)
    case .reconnected: delegate.webSocketTransportDidReconnect(transport)
    case .disconnected(let error): delegate.webSocketTransport(transport, didDisconnectWithError: error)
    }
  }

  /// Calls the handler of a ping.
  func call(_ handler: PingHandler) { queue.async { handler.body?() } }
}

/// The handler of a ping. It is called once, on the queue of the delegate.
struct PingHandler: @unchecked Sendable {
  // Its closure is called by one thread.

  /// The longest content of a ping, in bytes (RFC 6455, 5.5).
  static let maximumBytes = 125

  let body: (() -> Void)?
}
