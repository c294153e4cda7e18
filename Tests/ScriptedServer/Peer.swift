internal import Glibc
internal import Synchronization

/// An accepted connection, controlled by its script.
public final class Peer: Sendable {
  private struct State {
    var descriptor: Int32
    var unread: [UInt8] = []
  }

  /// The time limit for a script that waits for a client, in seconds. A test that hangs fails.
  private static let patienceSeconds = 90

  private let state: Mutex<State>
  private let ledger: Ledger
  /// The number of the connection within its server, from 1.
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
        if ReceivedRequest(head: head, body: []).header("Transfer-Encoding") == "chunked" {
          putBack(Array(bytes[end...]))
          return try chunkedRequest(head)
        }
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

  /// The head of the next request, whose body is left to ``chunk()``; nil if the client has closed.
  public func head() throws -> ReceivedRequest? {
    var bytes = takeUnread()
    while true {
      if let end = Self.endOfHead(bytes, from: 0) {
        let request = ReceivedRequest(head: String(decoding: bytes[..<end], as: UTF8.self), body: [])
        putBack(Array(bytes[end...]))
        ledger.received(request)
        return request
      }
      guard let more = receive() else { return nil }
      bytes += more
    }
  }

  /// The next chunk of a body in chunks, empty at its end; nil if the client closes before.
  public func chunk() -> [UInt8]? {
    var bytes = takeUnread()
    while true {
      if let line = bytes.firstIndex(of: 13), let size = Int(String(decoding: bytes[..<line], as: UTF8.self), radix: 16),
        bytes.count >= line + 2 + size + 2
      {
        putBack(Array(bytes[(line + 2 + size + 2)...]))
        return Array(bytes[(line + 2)..<(line + 2 + size)])
      }
      guard let more = receive() else { return nil }
      bytes += more
    }
  }

  private func chunkedRequest(_ head: String) throws -> ReceivedRequest? {
    var body: [UInt8] = []
    while let chunk = chunk() {
      guard chunk.isEmpty else {
        body += chunk
        continue
      }
      let request = ReceivedRequest(head: head, body: body)
      ledger.received(request)
      return request
    }
    return nil
  }

  /// Waits until the client closes or resets the connection.
  public func waitForHangUp() {
    while receive() != nil {}
    ledger.sawHangUp()
  }

  /// The next bytes, or nil if the client has closed.
  public func receive() -> [UInt8]? {
    let descriptor = state.withLock { $0.descriptor }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  // MARK: Writing

  /// Sends text unchanged.
  ///
  /// - Throws: ``SocketFailure`` if the client has closed the connection.
  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Sends bytes unchanged.
  ///
  /// - Throws: ``SocketFailure`` if the client has closed the connection.
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

  /// Sends a whole response with a Content-Length.
  public func respond(_ status: String = "200 OK", headers: String = "", body: String = "") throws {
    try send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Waits without sending.
  public func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

  /// Limits the data that the kernel buffers for a client that does not read.
  public func limitSendBuffer(to bytes: Int32) {
    var bytes = bytes
    unsafe setsockopt(
      state.withLock { $0.descriptor }, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Forwards bytes to and from another server until either side closes.
  ///
  /// - Parameter control: Decides which bytes wait; nil for none.
  /// - Throws: ``SocketFailure`` if the other server cannot be reached or a connection fails.
  public func relay(to port: Int, _ control: RelayControl? = nil) throws {
    let other = Listener.connect(to: port)
    defer { _ = Glibc.close(other) }
    let descriptor = state.withLock { $0.descriptor }
    _ = fcntl(other, F_SETFL, 0)
    var buffer = [UInt8](repeating: 0, count: 65536)
    var isExempt = false
    while true {
      let (waitsRequests, waitsAnswers) = isExempt ? (false, false) : control?.waits ?? (false, false)
      var sides = [
        pollfd(fd: waitsRequests ? -1 : descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: waitsAnswers ? -1 : other, events: Int16(POLLIN), revents: 0),
      ]
      let ready = unsafe poll(&sides, 2, control == nil ? Int32(Self.patienceSeconds) * 1000 : RelayControl.interval)
      guard ready > 0 else {
        guard control != nil, ready == 0 else { return }
        continue
      }
      for (source, target) in [(0, other), (1, descriptor)] where sides[source].revents != 0 {
        let count = unsafe recv(sides[source].fd, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        if let control, source == 0, control.exempts(buffer[..<count]) { isExempt = true }
        guard unsafe Glibc.send(target, &buffer, count, Int32(MSG_NOSIGNAL)) == count else { throw SocketFailure("send", errno) }
      }
    }
  }

  // MARK: Ending

  /// Closes with a reset, like a server that crashes.
  public func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(
      state.withLock { $0.descriptor }, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    close()
  }

  /// Closes the connection. Bytes already sent still arrive.
  public func close() {
    let descriptor = state.withLock { state in
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    guard descriptor >= 0 else { return }
    ledger.closed(self)
    _ = Glibc.close(descriptor)
  }

  /// Shuts down both directions from another thread. The script's thread closes the socket.
  func shutDown() {
    state.withLock { state in
      if state.descriptor >= 0 { _ = shutdown(state.descriptor, Int32(SHUT_RDWR)) }
    }
  }

  // MARK: Unread bytes

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
