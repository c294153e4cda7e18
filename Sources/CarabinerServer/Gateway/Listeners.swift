internal import CarabinerGateway
internal import Synchronization

/// The servers of a gateway that listen for clients, and the one of the admin socket.
final class Listeners: Sendable {
  private struct State {
    var clients: [GatewayServer] = []
    var admin: GatewayServer?
  }

  private let state = Mutex(State())

  /// The servers for clients, in the order of their addresses.
  var clients: [GatewayServer] { state.withLock(\.clients) }

  /// The server of the admin socket; nil if there is none.
  var admin: GatewayServer? {
    get { state.withLock(\.admin) }
    set { state.withLock { $0.admin = newValue } }
  }

  /// The number of open connections of clients.
  var connectionCount: Int { clients.reduce(0) { $0 + $1.connectionCount } }

  /// Adds a server for clients.
  func add(_ server: GatewayServer) { state.withLock { $0.clients.append(server) } }
}
