internal import Glibc
internal import Synchronization

/// A TCP server on 127.0.0.1 that runs a script for every connection, each on its own thread.
///
/// Tests of the transport and the command need a server that breaks the protocol on purpose.
public final class ScriptedServer: Sendable {
  /// The code that runs for one connection. The connection is closed when it returns or throws.
  public typealias Script = @Sendable (Peer) throws -> Void

  /// The port it listens on.
  public let port: Int
  private let listener: Listener
  private let ledger = Ledger()

  private let script: Script
  private static let backlog: Int32 = 512

  /// A server that runs `script` for each connection.
  ///
  /// - Parameters:
  ///   - isOpen: Whether it listens at once. Until ``open()``, connections are refused.
  ///   - host: The last number of its address 127.0.0.x.
  ///   - port: The port; 0 for a free one.
  /// - Throws: ``SocketFailure`` if there is no descriptor, port or thread left.
  public init(isOpen: Bool = true, host: UInt8 = 1, port: Int = 0, _ script: @escaping Script) throws {
    listener = try Listener(backlog: Self.backlog, isOpen: isOpen, host: host, port: port)
    self.port = listener.port
    self.script = script
    if isOpen { try accept() }
  }

  /// Starts listening, if it did not at once.
  ///
  /// - Throws: ``SocketFailure`` if there is no thread left.
  public func open() throws {
    try listener.open(backlog: Self.backlog)
    try accept()
  }

  private func accept() throws {
    let accept: @Sendable () -> Void = { [listener, ledger, script] in
      while let descriptor = listener.accept() {
        let peer = Peer(descriptor, ledger)
        guard ledger.opened(peer) else { return peer.close() }
        let serve: @Sendable () -> Void = {
          try? script(peer)
          peer.close()
        }
        do { try Thread.start(serve) } catch { peer.close() }
      }
    }
    try Thread.start(accept)
  }

  /// Two servers with one port, at 127.0.0.1 and 127.0.0.2. A port may be free at one of the addresses only, so several are tried.
  ///
  /// - Parameter start: Starts the server of a host on a port; 0 for a free one.
  /// - Throws: ``SocketFailure`` if no port of a hundred is free at both.
  public static func pair(
    _ start: (_ host: UInt8, _ port: Int) throws -> ScriptedServer
  ) throws -> (first: ScriptedServer, second: ScriptedServer) {
    var refused: [ScriptedServer] = []
    while true {
      let first = try start(1, 0)
      do {
        return (first, try start(2, first.port))
      } catch let failure as SocketFailure where failure.code == EADDRINUSE && refused.count < 99 {
        // It keeps its port until another one is found.
        refused.append(first)
      }
    }
  }

  deinit {
    listener.stop()
    ledger.hangUp()
  }

  /// "http://127.0.0.1:PORT"
  public var origin: String { "http://127.0.0.1:\(port)" }

  /// The number of accepted connections.
  public var connections: Int { ledger.accepted }

  /// The number of open connections.
  public var openConnections: Int { ledger.open }

  /// The requests read so far, in the order of completion.
  public var requests: [ReceivedRequest] { ledger.requests }

  /// The number of bytes accepted by the kernel for sending, over all connections.
  public var bytesSent: Int { ledger.bytesSent }

  /// The number of connections that the client closed while a script waited for it.
  public var hangUps: Int { ledger.hangUps }

  /// A script that handles every request of a connection in the same way.
  public static func answering(_ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void) -> Script {
    { peer in
      while let request = try peer.request() { try answer(request, peer) }
    }
  }
}
