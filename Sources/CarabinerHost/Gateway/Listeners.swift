internal import CarabinerGateway
internal import Synchronization

/// The servers of a gateway that listen for clients, and the one of the admin socket.
final class Listeners: Sendable {
  private struct State {
    var clients: [GatewayServer] = []
    /// Servers that a reload has removed and that still have connections.
    var leaving: [GatewayServer] = []
    var admin: GatewayServer?
  }

  private let state = Mutex(State())

  /// The servers for clients, in the order of their addresses.
  var clients: [GatewayServer] { state.withLock(\.clients) }

  /// The servers that a reload has removed and that still have connections.
  var leaving: [GatewayServer] { state.withLock(\.leaving) }

  /// The server of the admin socket; nil if there is none.
  var admin: GatewayServer? {
    get { state.withLock(\.admin) }
    set { state.withLock { $0.admin = newValue } }
  }

  /// The number of open connections of clients.
  var connectionCount: Int { state.withLock { $0.clients + $0.leaving }.reduce(0) { $0 + $1.connectionCount } }

  /// Replaces the servers for clients.
  ///
  /// - Returns: The earlier servers that are not among the new ones. They count as leaving until ``ended(_:)``.
  func replace(_ clients: [GatewayServer]) -> [GatewayServer] {
    state.withLock { state in
      let removed = state.clients.filter { old in !clients.contains { $0 === old } }
      state.clients = clients
      state.leaving += removed
      return removed
    }
  }

  /// Removes a server whose connections have ended.
  func ended(_ server: GatewayServer) { state.withLock { $0.leaving.removeAll { $0 === server } } }
}
