internal import Glibc
internal import Synchronization

/// A TCP server on 127.0.0.1 that treats every connection as its script says, well or badly, each on a thread of its own.
///
/// Tests of the transport and of the command need a server that breaks the rules on purpose, which no real one does.
public final class ScriptedServer: Sendable {
  /// What happens on one connection; the connection is closed when it returns or throws.
  public typealias Script = @Sendable (Peer) throws -> Void

  /// The port it listens on.
  public let port: Int
  private let listener: Listener
  private let ledger = Ledger()

  private let script: Script
  private static let backlog: Int32 = 512

  /// A server that runs `script` for each connection.
  ///
  /// - Parameter isOpen: Whether it is there at once; until ``open()`` who connects is refused.
  /// - Throws: ``SocketFailure`` if there is no descriptor, port or thread left.
  public init(isOpen: Bool = true, _ script: @escaping Script) throws {
    listener = try Listener(backlog: Self.backlog, isOpen: isOpen)
    port = listener.port
    self.script = script
    if isOpen { try accept() }
  }

  /// Begins to listen, if it did not at once.
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

  deinit {
    listener.stop()
    ledger.hangUp()
  }

  /// "http://127.0.0.1:PORT"
  public var origin: String { "http://127.0.0.1:\(port)" }

  /// How many connections were accepted so far.
  public var connections: Int { ledger.accepted }

  /// How many connections are open at this moment.
  public var openConnections: Int { ledger.open }

  /// The requests read so far, in the order their reading ended.
  public var requests: [ReceivedRequest] { ledger.requests }

  /// Bytes the kernel took for sending, over all connections.
  public var bytesSent: Int { ledger.bytesSent }

  /// How many connections the client closed while a script waited for that.
  public var hangUps: Int { ledger.hangUps }

  /// A script that answers every request of a connection in the same way.
  public static func answering(_ answer: @escaping @Sendable (ReceivedRequest, Peer) throws -> Void) -> Script {
    { peer in
      while let request = try peer.request() { try answer(request, peer) }
    }
  }
}
