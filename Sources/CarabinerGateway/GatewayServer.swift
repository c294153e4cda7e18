internal import FoundationEssentials
internal import Glibc
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// Accepts connections and reads HTTP/1.1 from them, or HTTP/2.
package final class GatewayServer: Sendable {
  /// Where a server listens.
  package enum Address: Sendable, Hashable {
    case tcp(host: String, port: Int)
    /// A socket in the file system.
    case unix(path: String)
    /// A socket that is listening already, as systemd hands over.
    case descriptor(Int32)
  }

  /// The address may not be used.
  package struct BindFailure: Error, CustomStringConvertible {
    package let description: String
  }

  /// How many connections the system keeps for the server until it takes them.
  private static let backlog: Int32 = 1024
  /// How large a piece of a slow client's answer may wait before its sender does.
  private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 128 << 10)

  private let channel: any Channel
  private let connections: OpenConnections

  /// Where it listens; the port is the one in use if any would have done.
  package let address: SocketAddress?

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - tls: The certificate of TLS connections; nil for connections without TLS.
  ///   - isForOwnerOnly: Whether a socket in the file system is for processes of the same user alone, and of root.
  ///   - unsent: Counts the answers that wait for their clients, together with those of other servers.
  /// - Throws: ``BindFailure``.
  package init(
    _ address: Address, group: any EventLoopGroup, tls: ServerCertificate? = nil, limits: GatewayLimits = GatewayLimits(),
    isForOwnerOnly: Bool = false, unsent: UnsentTotal? = nil, handler: any RequestHandler
  ) async throws {
    let connections = OpenConnections(unsent: unsent ?? UnsentTotal(limits))
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(ChannelOptions.backlog, value: Self.backlog)
      .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
      .childChannelOption(ChannelOptions.writeBufferWaterMark, value: Self.waterMark)
      .childChannelOption(ChannelOptions.maxMessagesPerRead, value: 4)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if isForOwnerOnly { try pipeline.addHandler(OwnerCheck()) }
          if let tls {
            try pipeline.addHandler(ProtocolOffer(limits.takesHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]))
            try pipeline.addHandler(NIOSSLServerHandler(context: tls.context))
          }
          guard limits.takesHTTP2 else {
            return try Self.installHTTP1(on: channel, handler, limits: limits, connections: connections)
          }
          try pipeline.addHandler(
            ProtocolChoice(limits: limits, connections: connections) { isHTTP2, channel in
              if isHTTP2 {
                try MultiplexedConnection.install(on: channel, handler, limits: limits, connections: connections)
              } else {
                try Self.installHTTP1(on: channel, handler, limits: limits, connections: connections)
              }
            })
        }
      }
    do {
      channel =
        switch address {
        case .tcp(let host, let port): try await bootstrap.bind(host: host, port: port).get()
        case .unix(let path):
          try await UnixSocketFile.withoutServer(at: path) {
            try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
          }
        case .descriptor(let descriptor): try await bootstrap.withBoundSocket(descriptor).get()
        }
    } catch let failure as BindFailure {
      throw failure
    } catch {
      // NIO's own text of it names a function of C, and has a parenthesis too many.
      let reason = (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(error)"
      throw BindFailure(description: "cannot listen on \(address): \(reason)")
    }
    self.connections = connections
    self.address = channel.localAddress
    name =
      switch address {
      case .tcp(let host, _): Address.tcp(host: host, port: channel.localAddress?.port ?? 0).description
      case .unix, .descriptor: address.description
      }
    // Between the making of the socket and this others could connect; the owner check is what keeps them out.
    if isForOwnerOnly, case .unix(let path) = address {
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
  }

  /// Adds to a connection what speaks HTTP/1.1 on it.
  static func installHTTP1(
    on channel: any Channel, _ handler: any RequestHandler, limits: GatewayLimits, connections: OpenConnections
  ) throws {
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = limits.maximumHeadBytes
    decoding.maxHeaderListSize = limits.maximumHeadBytes
    decoding.maxHeaderFieldCount = limits.maximumHeadFields
    let pipeline = channel.pipeline.syncOperations
    // A reply says itself how its body ends: the client may speak HTTP/1.0.
    var encoding = HTTPResponseEncoder.Configuration()
    encoding.automaticallySetFramingHeaders = false
    try pipeline.addHandler(HTTPResponseEncoder(configuration: encoding))
    try pipeline.addHandler(
      ByteToMessageHandler(
        HTTPRequestDecoder(
          leftOverBytesStrategy: .fireError, informationalResponseStrategy: .drop, limitConfiguration: decoding)))
    // What plugins and upstreams put into a head cannot end a line of it.
    try pipeline.addHandler(NIOHTTPResponseHeadersValidator())
    try pipeline.addHandler(ConnectionHandler(handler, limits: limits, connections: connections))
  }

  /// The address as people write it, with the port in use.
  package let name: String

  /// How many connections are open.
  package var connectionCount: Int { connections.count }

  /// Takes no more connections, lets answers under way finish, and ends what is still open when the time is over.
  ///
  /// - Parameter cuttingOff: Is told how many connections are ended, before they are.
  package func shutDown(within time: Duration, cuttingOff: @escaping @Sendable (Int) -> Void = { _ in }) async {
    try? await channel.close().get()
    connections.drain()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.connections.waitUntilEmpty() }
      group.addTask {
        guard (try? await Task.sleep(for: time)) != nil else { return }
        let count = self.connections.count
        guard count > 0 else { return }
        cuttingOff(count)
        self.connections.closeAll()
        await self.connections.waitUntilEmpty()
      }
      await group.next()
      group.cancelAll()
    }
  }
}

extension GatewayServer.Address: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .descriptor(let descriptor): "descriptor \(descriptor)"
    }
  }

  /// Reads `HOST:PORT`, `[IPV6]:PORT`, `:PORT`, `unix:PATH` or `fd:NUMBER`; nil if it is none of them.
  package init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard !path.isEmpty else { return nil }
      self = .unix(path: path)
      return
    }
    if text.hasPrefix("fd:") {
      guard let number = Int32(text.dropFirst("fd:".count)), number > 2 else { return nil }
      self = .descriptor(number)
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      return nil
    }
    self = .tcp(host: host.isEmpty ? "0.0.0.0" : host, port: Int(port))
  }
}
