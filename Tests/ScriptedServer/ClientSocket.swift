internal import Glibc
internal import Synchronization

/// A client that sends arbitrary bytes.
public final class ClientSocket: Sendable {
  private let descriptor: Mutex<Int32>

  /// Connects to a port of this machine.
  public init(port: Int) throws {
    let descriptor = Listener.connect(to: port)
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard descriptor >= 0, unsafe poll(&waiting, 1, 5000) == 1, waiting.revents & Int16(POLLERR) == 0 else {
      close(descriptor)
      throw SocketFailure("connect", errno)
    }
    // From here on, calls on the socket can block.
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
    self.descriptor = Mutex(descriptor)
  }

  deinit { hangUp() }

  /// Sends a text. Returns false if the other side has closed the connection.
  @discardableResult
  public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends bytes. Returns false if the other side has closed the connection.
  @discardableResult
  public func send(_ bytes: [UInt8]) -> Bool {
    descriptor.withLock { descriptor in
      var sent = 0
      while sent < bytes.count {
        let count = unsafe bytes.withUnsafeBytes {
          unsafe Glibc.send(descriptor, $0.baseAddress.map { unsafe $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }

  /// Closes the sending direction.
  public func finish() { descriptor.withLock { _ = shutdown($0, Int32(SHUT_WR)) } }

  /// Resets the connection and discards unread and unsent data.
  public func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    descriptor.withLock { descriptor in
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
    hangUp()
  }

  /// Closes the connection at once. Data in transit causes a reset.
  public func hangUp() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// Reads until the other side closes, `isEnough` returns true, or nothing arrives for a while.
  ///
  /// - Returns: The text, and whether the other side has closed.
  public func read(
    patience milliseconds: Int32 = 10_000, until isEnough: (String) -> Bool = { _ in false }
  ) -> (text: String, isClosed: Bool) {
    var bytes: [UInt8] = []
    while !isEnough(String(decoding: bytes, as: UTF8.self)) {
      guard let piece = receive(patience: milliseconds) else { return (String(decoding: bytes, as: UTF8.self), false) }
      guard !piece.isEmpty else { return (String(decoding: bytes, as: UTF8.self), true) }
      bytes.append(contentsOf: piece)
    }
    return (String(decoding: bytes, as: UTF8.self), false)
  }

  /// The next bytes; empty if the other side has closed, nil if nothing arrives within the time limit.
  public func receive(patience milliseconds: Int32 = 10_000) -> [UInt8]? {
    let descriptor = descriptor.withLock(\.self)
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, milliseconds) == 1 else { return nil }
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.recv(descriptor, $0.baseAddress, $0.count, 0) }
    return count > 0 ? Array(piece[..<count]) : []
  }
}
