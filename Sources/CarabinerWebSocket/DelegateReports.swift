internal import Dispatch
internal import Synchronization

/// Reports the changes of a connection to the delegate of its transport, on a queue of its own.
final class DelegateReports: Sendable {
  private struct State {
    weak var delegate: (any WebSocketTransportDelegate)?
    /// Makes the transport that the delegate gets; nil if the transport was released.
    var transport: (@Sendable () -> WebSocketTransport?)?
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "carabiner.websocket.delegate")

  var delegate: (any WebSocketTransportDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  func setTransport(_ transport: @escaping @Sendable () -> WebSocketTransport?) { state.withLock { $0.transport = transport } }

  func take(_ change: SocketChange) {
    queue.async {
      let (delegate, make) = self.state.withLock { ($0.delegate, $0.transport) }
      guard let delegate, let transport = make?() else { return }
      switch change {
      case .connected: delegate.webSocketTransportDidConnect(transport)
      case .reconnected: delegate.webSocketTransportDidReconnect(transport)
      case .disconnected(let error): delegate.webSocketTransport(transport, didDisconnectWithError: error)
      }
    }
  }
}
