internal import Glibc
internal import Synchronization

/// One accepted connection, in the hands of its script.
public final class Peer: Sendable {
  private struct State {
    var descriptor: Int32
    var unread: [UInt8] = []
  }

  /// No script waits longer than this for a client: a test that hangs is a test that fails.
  private static let patienceSeconds = 90

  private let state: Mutex<State>
  private let ledger: Ledger
  /// Which connection of its server this is, from 1.
  public let number: Int

  init(_ descriptor: Int32, _ ledger: Ledger) {
    state = Mutex(State(descriptor: descriptor))
    self.ledger = ledger
    number = ledger.accepted + 1
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var yes: Int32 = 1
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  // MARK: Reading

  /// The next request, or nil if the client has closed.
  public func request() throws -> ReceivedRequest? {
    var bytes = takeUnread()
    var scanned = 0
    while true {
      if let end = Self.endOfHead(bytes, from: scanned) {
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let length = ReceivedRequest.headers(of: head).first { $0.name.lowercased() == "content-length" }.flatMap {
          Int($0.value)
        }
        while bytes.count < end + (length ?? 0) {
          guard let more = receive() else { return nil }
          bytes += more
        }
        let request = ReceivedRequest(head: head, body: Array(bytes[end..<(end + (length ?? 0))]))
        putBack(Array(bytes[(end + (length ?? 0))...]))
        ledger.received(request)
        return request
      }
      scanned = max(0, bytes.count - 3)
      guard let more = receive() else { return nil }
      bytes += more
    }
  }

  /// Waits until the client closes or resets the connection.
  public func waitForHangUp() {
    while receive() != nil {}
    ledger.sawHangUp()
  }

  /// What arrives next, or nil if the client has closed.
  public func receive() -> [UInt8]? {
    let descriptor = state.withLock { $0.descriptor }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  // MARK: Writing

  /// Sends text as it is.
  ///
  /// - Throws: ``SocketFailure`` if the client has gone.
  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Sends bytes as they are.
  ///
  /// - Throws: ``SocketFailure`` if the client has gone.
  public func send(_ bytes: [UInt8]) throws {
    let descriptor = state.withLock { $0.descriptor }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw SocketFailure("send", errno) }
      ledger.sent(count)
      rest = rest.dropFirst(count)
    }
  }

  /// Sends a whole response with its length.
  public func respond(_ status: String = "200 OK", headers: String = "", body: String = "") throws {
    try send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Waits; the client sees silence.
  public func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

  /// Keeps the kernel from taking much more than the client reads.
  public func limitSendBuffer(to bytes: Int32) {
    var bytes = bytes
    unsafe setsockopt(
      state.withLock { $0.descriptor }, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Passes bytes to and from another server until either side closes.
  ///
  /// - Throws: ``SocketFailure`` if the other server cannot be reached or one side breaks.
  public func relay(to port: Int) throws {
    let other = Listener.connect(to: port)
    defer { _ = Glibc.close(other) }
    let descriptor = state.withLock { $0.descriptor }
    _ = fcntl(other, F_SETFL, 0)
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      var sides = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&sides, 2, Int32(Self.patienceSeconds) * 1000) > 0 else { return }
      for (source, target) in [(0, other), (1, descriptor)] where sides[source].revents != 0 {
        let count = unsafe recv(sides[source].fd, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        guard unsafe Glibc.send(target, &buffer, count, Int32(MSG_NOSIGNAL)) == count else { throw SocketFailure("send", errno) }
      }
    }
  }

  // MARK: Ending

  /// Closes with a reset, as a server that crashes does.
  public func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      state.withLock { $0.descriptor }, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close()
  }

  /// Closes; bytes already sent still arrive.
  public func close() {
    let descriptor = state.withLock { state in
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    guard descriptor >= 0 else { return }
    ledger.closed(self)
    _ = Glibc.close(descriptor)
  }

  /// Ends both directions from another thread, and leaves closing to the script's.
  func shutDown() {
    state.withLock { state in
      if state.descriptor >= 0 { _ = shutdown(state.descriptor, Int32(SHUT_RDWR)) }
    }
  }

  // MARK: Bytes not yet used

  private func takeUnread() -> [UInt8] {
    state.withLock { state in
      defer { state.unread = [] }
      return state.unread
    }
  }

  private func putBack(_ bytes: [UInt8]) { state.withLock { $0.unread = bytes } }

  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= 4 else { return nil }
    for index in start...max(start, bytes.count - 4) where bytes[index...].starts(with: [13, 10, 13, 10]) { return index + 4 }
    return nil
  }
}
