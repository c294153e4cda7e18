import NIOCore
import NIOHTTP1
import NIOPosix
import ScriptedServer
import Synchronization
import TestTools

@testable import CarabinerGateway

/// A gateway in this process on a free port, for the lifetime of this value.
final class LocalGateway: Sendable {
  private let server: GatewayServer
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let port: Int
  /// The unsent response bytes.
  let unsent: UnsentTotal

  init(_ handler: any RequestHandler, limits: GatewayLimits = .untimed) async throws {
    unsent = UnsentTotal(limits)
    server = try await GatewayServer(
      .tcp(host: "127.0.0.1", port: 0), group: group, ListenerSettings(handler: handler),
      settings: CurrentSettings(limits: limits),
      unsent: unsent)
    port = server.address?.port ?? 0
  }

  deinit {
    let (server, group) = (server, group)
    Task {
      await server.shutDown(within: .zero)
      try? await group.shutdownGracefully()
    }
  }

  var connectionCount: Int { server.connectionCount }

  /// Waits until the event loop has done what waited for it.
  func turn() async throws { try await group.any().submit {}.get() }

  /// Ends the gateway. Returns whether all connections ended by themselves.
  func shutDown(within time: Duration) async -> Bool {
    let cutOff = Atomic(0)
    await server.shutDown(within: time) { cutOff.add($0, ordering: .relaxed) }
    return cutOff.load(ordering: .relaxed) == 0
  }

  /// Sends a text on a new connection, and returns the bytes received until the gateway closes it.
  func exchange(_ text: String) async throws -> (text: String, isClosed: Bool) {
    try await offThePool { [port] in
      let client = try ClientSocket(port: port)
      client.send(text)
      return client.read(patience: 120_000)
    }
  }
}

extension GatewayLimits {
  /// Limits for clients on a real clock: none of them is too slow, however busy the machine is.
  static var untimed: GatewayLimits {
    var limits = GatewayLimits()
    let times: [WritableKeyPath<Self, TimeAmount>] = [
      \.uploadTimeout, \.receiveTimeout, \.sendTimeout, \.idleTimeout, \.keepAlive,
    ]
    for time in times { limits[keyPath: time] = .hours(1) }
    return limits
  }
}

/// Answers requests with a closure, and records them.
final class RecordingHandler: RequestHandler {
  private let body: @Sendable (GatewayRequest, GatewayReply) -> Void
  private let received = Mutex<[GatewayRequest]>([])

  init(_ body: @escaping @Sendable (GatewayRequest, GatewayReply) -> Void) { self.body = body }

  /// Answers each request at once with a text.
  convenience init(text: String) {
    self.init { _, reply in reply.answer(.ok, ["Content-Type": "text/plain"], ByteBuffer(string: text)) }
  }

  var requests: [GatewayRequest] { received.withLock(\.self) }

  func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
    received.withLock { $0.append(request) }
    body(request, reply)
  }
}

/// Holds replies until a test answers them.
final class HeldReplies: Sendable {
  private let replies = Mutex<[GatewayReply]>([])

  func add(_ reply: GatewayReply) { replies.withLock { $0.append(reply) } }

  var count: Int { replies.withLock(\.count) }

  /// The reply that has waited longest; nil if there is none.
  func next() -> GatewayReply? { replies.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
