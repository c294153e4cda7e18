internal import Carabiner
internal import NIOCore
internal import Synchronization

/// The connections of a transport whose handshakes have the headers of requests: one connection for each set of headers.
///
/// No operation runs on a connection with the headers of another client.
final class IdentitySockets: ResultTransport {
  /// The connection for one set of headers.
  private struct Place {
    let socket: SocketHandle
    var operations = 1
    /// Closes the connection when it has been idle for a while.
    var end: Scheduled<Void>?
  }

  private struct State {
    var places: [HTTPHeaders: Place] = [:]
    /// The number of places without operations.
    var idle = 0
    /// The bytes of all sets of headers.
    var bytes = 0
    var isOver = false
  }

  private let limits: WebSocketTransport.IdentityLimits
  private let opening: SocketOpening
  /// The headers with the name and version of the client program.
  private let clientHeaders: HTTPHeaders
  private let state = Mutex(State())

  init(_ limits: WebSocketTransport.IdentityLimits, like opening: SocketOpening, clientHeaders: HTTPHeaders) {
    (self.limits, self.opening, self.clientHeaders) = (limits, opening, clientHeaders)
  }

  func results<Request: GraphQLRequest>(
    for request: Request
  ) async throws -> PullStream<GraphQLResponse<Request.Operation>> {
    let headers = identity(of: request)
    let use = IdentityUse(try enter(headers)) { [weak self] in self?.leave(headers) }
    let results = try use.socket.driver.start(request)
    return PullStream {
      // The connection is in use until the stream is released.
      defer { withExtendedLifetime(use) {} }
      return try await results.next()
    }
  }

  /// The headers of the handshake for a request.
  private func identity(of request: some GraphQLRequest) -> HTTPHeaders {
    var headers = clientHeaders
    headers.replace(with: request.additionalHeaders)
    for name in limits.ignoredHeaders { headers.remove(name) }
    return headers
  }

  /// Shuts all connections down, and waits until they are closed.
  func shutDown() async {
    let sockets = state.withLock { state in
      let sockets = state.places.values.map(\.socket)
      for place in state.places.values { place.end?.cancel() }
      state = State(isOver: true)
      return sockets
    }
    await withDiscardingTaskGroup { group in
      for socket in sockets { group.addTask { await socket.driver.shutDown() } }
    }
  }

  // MARK: Places

  /// Returns the connection for a set of headers, and counts an operation on it.
  private func enter(_ headers: HTTPHeaders) throws(WebSocketError) -> SocketHandle {
    if let socket = try known(headers) { return socket }
    // Another operation may have added the same set meanwhile.
    let added = SocketHandle(SocketDriver(try opening.copy(with: headers)))
    var evicted: [SocketHandle] = []
    let socket: SocketHandle? = state.withLock { state in
      if let socket = Self.use(headers, &state) { return socket }
      while !hasRoom(for: headers, state), let socket = Self.evict(&state) { evicted.append(socket) }
      guard hasRoom(for: headers, state), !state.isOver else { return nil }
      state.places[headers] = Place(socket: added)
      state.bytes += headers.byteCount
      return added
    }
    guard let socket else {
      throw opening.error(
        .tooManyOperations,
        "\(limits.connections) WebSockets for clients with different headers are open, or their headers have \(limits.headerBytes) "
          + "bytes; try again later, or raise connections-per-host of settings")
    }
    return socket
  }

  private func known(_ headers: HTTPHeaders) throws(WebSocketError) -> SocketHandle? {
    let (socket, isOver) = state.withLock { (Self.use(headers, &$0), $0.isOver) }
    guard !isOver else { throw opening.error(.shutDown, "the WebSocket transport was shut down; make another one") }
    return socket
  }

  private func hasRoom(for headers: HTTPHeaders, _ state: State) -> Bool {
    state.places.count < limits.connections && state.bytes + headers.byteCount <= limits.headerBytes
  }

  /// Counts an operation on a connection; nil if there is none for these headers.
  private static func use(_ headers: HTTPHeaders, _ state: inout State) -> SocketHandle? {
    guard let place = state.places[headers] else { return nil }
    place.end?.cancel()
    if place.operations == 0 { state.idle -= 1 }
    state.places[headers] = Place(socket: place.socket, operations: place.operations + 1)
    return place.socket
  }

  /// Removes a connection without operations; nil if there is none.
  private static func evict(_ state: inout State) -> SocketHandle? {
    guard state.idle > 0, let headers = state.places.first(where: { $0.value.operations == 0 })?.key else { return nil }
    return remove(headers, &state)
  }

  private static func remove(_ headers: HTTPHeaders, _ state: inout State) -> SocketHandle? {
    guard let place = state.places.removeValue(forKey: headers) else { return nil }
    place.end?.cancel()
    state.idle -= 1
    state.bytes -= headers.byteCount
    return place.socket
  }

  /// Ends an operation. A connection without operations stays open for a while.
  private func leave(_ headers: HTTPHeaders) {
    state.withLock { state in
      guard var place = state.places[headers] else { return }
      place.operations -= 1
      if place.operations == 0 {
        state.idle += 1
        place.end = place.socket.driver.schedule(in: limits.idleTimeout) { [weak self] in self?.close(headers) }
      }
      state.places[headers] = place
    }
  }

  private func close(_ headers: HTTPHeaders) {
    // Released outside of the lock, which closes the connection.
    let socket: SocketHandle? = state.withLock { state in
      state.places[headers]?.operations == 0 ? Self.remove(headers, &state) : nil
    }
    withExtendedLifetime(socket) {}
  }
}

/// An operation on a connection, until it is released.
private final class IdentityUse: Sendable {
  let socket: SocketHandle
  private let end: @Sendable () -> Void

  init(_ socket: SocketHandle, end: @escaping @Sendable () -> Void) { (self.socket, self.end) = (socket, end) }

  deinit { end() }
}

extension WebSocketTransport {
  /// The limits for connections whose handshakes have the headers of requests.
  package struct IdentityLimits: Sendable {
    /// The largest number of connections.
    package static let defaultConnections = 10_000
    /// The default of ``headerBytes``, 16 MiB.
    package static let defaultHeaderBytes = 16 << 20

    /// The largest number of connections. An operation that needs one more fails, unless one is idle.
    package var connections = defaultConnections
    /// The largest number of bytes that the headers of all connections have.
    package var headerBytes = defaultHeaderBytes
    /// The time that a connection without operations stays open.
    package var idleTimeout = Duration.seconds(10)
    /// Headers of requests that are not sent. Two requests that differ only in them share a connection.
    package var ignoredHeaders: [String] = []

    /// The default limits.
    package init() {}
  }
}
