internal import Glibc
package import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// Accepts connections and serves HTTP/1.1 or HTTP/2 on them.
package final class GatewayServer: Sendable {
  /// The address that a server listens on.
  package enum Address: Sendable, Hashable {
    case tcp(host: String, port: Int)
    /// A Unix domain socket.
    case unix(path: String)
    /// A listening socket that was passed in, for example by systemd.
    case descriptor(Int32)
  }

  /// The address of a server, for a process that takes over and for reports.
  package struct Identity: Sendable, Hashable {
    /// The address that was requested. It may have port 0.
    package let requested: String
    /// The address with the bound port.
    package let name: String

    package init(requested: String, name: String) {
      self.requested = requested
      self.name = name
    }
  }

  /// The length of the system's queue of connections that are not accepted yet.
  private static let backlog: Int32 = 1024
  /// The numbers of waiting bytes at which a channel becomes writable, and not writable.
  private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 128 << 10)

  let channel: any Channel
  private let group: any EventLoopGroup
  /// The path of a Unix domain socket, which is removed at the end; nil for other sockets.
  private let socketFile: String?
  /// Whether another process serves the socket from now on.
  private let isHandedOver = Atomic<Bool>(false)
  private let connections: OpenConnections
  private let listener: CurrentListener

  /// The bound address. If port 0 was requested, it has the port that the system chose.
  package let address: SocketAddress?

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - identity: The names of a socket that another process has bound. If it is nil, the names follow from `address`.
  ///   - listener: How connections are served, until ``set(_:)``.
  ///   - settings: The settings of the gateway. Their limits apply to new connections and requests.
  ///   - accepts: Whether connections are accepted at once. If not, they are accepted after ``beginAccepting()``.
  ///   - isForOwnerOnly: Whether only processes of the same user, and of root, may connect to a Unix domain socket.
  ///   - unsent: Counts unsent response bytes; may be shared with other servers.
  /// - Throws: ``GatewayError``.
  package init(
    _ address: Address, as identity: Identity? = nil, group: any EventLoopGroup, _ listener: ListenerSettings,
    settings: CurrentSettings = CurrentSettings(limits: GatewayLimits()), accepts: Bool = true, isForOwnerOnly: Bool = false,
    unsent: UnsentTotal? = nil
  ) async throws {
    let current = CurrentListener(listener)
    let connections = OpenConnections(unsent: unsent ?? UnsentTotal(settings.limits))
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(ChannelOptions.backlog, value: Self.backlog)
      .serverChannelOption(ChannelOptions.autoRead, value: accepts)
      .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
      .childChannelOption(ChannelOptions.writeBufferWaterMark, value: Self.waterMark)
      .childChannelOption(ChannelOptions.maxMessagesPerRead, value: 4)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let listener = current.value
          let pipeline = channel.pipeline.syncOperations
          if isForOwnerOnly { try pipeline.addHandler(OwnerCheck()) }
          guard listener.needsProxyHeader else {
            return try Self.install(on: channel, listener, settings, from: ConnectionOrigin(), connections: connections)
          }
          try pipeline.addHandler(
            ProxyHeaderReader(settings.value, connections: connections) { client, channel in
              try Self.install(on: channel, listener, settings, from: ConnectionOrigin(proxied: client), connections: connections)
            })
        }
      }
    do {
      channel =
        switch address {
        case .tcp(let host, let port): try await bootstrap.bind(host: host, port: port).get()
        case .unix(let path):
          try await UnixSocketFile.withoutServer(at: path) {
            // Bound here and not by the library, which would remove the file of a socket that it has bound, even after a take-over.
            try await Self.channel(
              bootstrap, UnixSocketFile.listen(at: path, isForOwnerOnly: isForOwnerOnly, backlog: Self.backlog))
          }
        case .descriptor(let descriptor): try await Self.channel(bootstrap, descriptor)
        }
    } catch let failure as GatewayError {
      throw failure
    } catch {
      // NIO's description names a C function and has an unbalanced parenthesis.
      var reason = (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(error)"
      if (error as? IOError)?.errnoCode == EADDRINUSE, case .tcp(_, let port) = address {
        let holder = PortHolder.process(atPort: port)
        reason += " by \(holder ?? "a process of another user, which ss -ltnp shows to root")"
      }
      throw GatewayError(.cannotListen, "cannot listen on \(address): \(reason)")
    }
    self.group = group
    self.connections = connections
    self.listener = current
    self.address = channel.localAddress
    requestedName = identity?.requested ?? address.description
    name =
      switch address {
      case .tcp(let host, _): Address.tcp(host: host, port: channel.localAddress?.port ?? 0).description
      case .unix, .descriptor: identity?.name ?? address.description
      }
    let unix = "unix:"
    socketFile = requestedName.hasPrefix(unix) ? String(requestedName.dropFirst(unix.count)) : nil
  }

  /// Listens at a bound socket. The library sets a shorter queue for it.
  private static func channel(_ bootstrap: ServerBootstrap, _ descriptor: Int32) async throws -> any Channel {
    let channel = try await bootstrap.withBoundSocket(descriptor).get()
    _ = listen(descriptor, backlog)
    return channel
  }

  /// Adds the handlers for TLS, if the listener has a certificate, and for the protocols over it.
  private static func install(
    on channel: any Channel, _ listener: ListenerSettings, _ settings: CurrentSettings, from origin: ConnectionOrigin,
    connections: OpenConnections
  ) throws {
    let limits = settings.limits
    let takesHTTP2 = listener.takesHTTP2 ?? limits.takesHTTP2
    let pipeline = channel.pipeline.syncOperations
    var origin = origin
    origin.isSecure = !listener.certificates.isEmpty
    if origin.isSecure {
      try pipeline.addHandler(
        ProtocolOffer(takesHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]) { name in
          listener.certificate(for: name).map { NIOSSLServerHandler(context: $0.context) }
        })
    }
    let handler = listener.handler
    guard takesHTTP2 else {
      return try installHTTP1(on: channel, handler, settings, from: origin, connections: connections)
    }
    try pipeline.addHandler(
      ProtocolChoice(limits: limits, connections: connections) { [origin] isHTTP2, channel in
        if isHTTP2 {
          try HTTP2Connection.install(on: channel, handler, settings, from: origin, connections: connections)
        } else {
          try installHTTP1(on: channel, handler, settings, from: origin, connections: connections)
        }
      })
  }

  /// Adds the handlers for HTTP/1.1 to a connection.
  static func installHTTP1(
    on channel: any Channel, _ handler: any RequestHandler, _ settings: CurrentSettings,
    from origin: ConnectionOrigin = ConnectionOrigin(), connections: OpenConnections
  ) throws {
    let limits = settings.limits
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HTTP1Codec(limits: limits))
    let clock = ConnectionClock(channel.eventLoop, limits, connections.timers)
    try pipeline.addHandler(ConnectionHandler(handler, settings, from: origin, clock: clock, connections: connections))
  }

  /// The address that was requested.
  package let requestedName: String
  /// The address as text, with the bound port.
  package let name: String

  /// Whether clients use TLS.
  package var hasTLS: Bool { !listener.value.certificates.isEmpty }
  /// The settings for new connections.
  package var settings: ListenerSettings { listener.value }
  /// The roles of the listener.
  package var roles: ListenerRoles { listener.value.roles }

  /// Replaces the settings for new connections.
  package func set(_ next: ListenerSettings) { listener.set(next) }

  /// The number of open connections.
  package var connectionCount: Int { connections.count }

  /// Returns a new descriptor of the listening socket. The caller closes it.
  package func duplicateDescriptor() async throws -> Int32 { try await ChannelDescriptor.duplicate(of: channel) }

  /// Accepts connections from now on.
  package func beginAccepting() async { try? await channel.setOption(ChannelOptions.autoRead, value: true).get() }

  /// Leaves the file of the socket to another process, which serves it.
  package func leaveSocketFile() { isHandedOver.store(true, ordering: .relaxed) }

  /// Stops accepting connections. Accepted ones are not affected.
  package func stopListening() async {
    // The library closes connections that are not set up on their own loop yet when the listener closes.
    guard (try? await channel.setOption(ChannelOptions.autoRead, value: false).get()) != nil else { return }
    await settle()
    guard (try? await channel.close().get()) != nil, let socketFile, !isHandedOver.load(ordering: .relaxed) else { return }
    UnixSocketFile.remove(socketFile)
  }

  /// Waits until the accepted connections are set up.
  ///
  /// The setup of a connection runs on the listener's event loop, on its own, on the listener's, and on its own again. After one
  /// round over all loops, the third step is at least queued. The second round completes it.
  private func settle() async {
    for _ in 0..<2 {
      for loop in group.makeIterator() { try? await loop.submit {}.get() }
    }
  }

  /// Closes HTTP/1.1 connections after their next response. All requests are served, and connections are still accepted.
  package func beginLameDuck() { connections.beginLameDuck() }

  /// Stops accepting connections, lets responses in progress finish, and closes the remaining connections when the time is over.
  ///
  /// - Parameter cuttingOff: Called with the number of remaining connections before they are closed.
  package func shutDown(within time: Duration, cuttingOff: @escaping @Sendable (Int) -> Void = { _ in }) async {
    await stopListening()
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
