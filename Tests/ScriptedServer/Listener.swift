internal import Glibc
internal import Synchronization

/// A listening socket on a free port of a loopback address.
public final class Listener: Sendable {
  /// The assigned port.
  public let port: Int
  private let descriptor: Int32

  /// A listener that need not accept connections: with a small `backlog`, connecting to it never completes.
  ///
  /// - Parameters:
  ///   - isOpen: Whether it listens at once. Until ``open(backlog:)``, its port is reserved and connections are refused.
  ///   - host: The last number of its address 127.0.0.x.
  ///   - port: The port; 0 for a free one.
  /// - Throws: ``SocketFailure`` if there is no descriptor or port left.
  public init(backlog: Int32, isOpen: Bool = true, host: UInt8 = 1, port: Int = 0) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketFailure("socket", errno) }
    // A port that is asked for may have been that of an earlier server, whose connections wait for their end. Both servers must allow it.
    // A free port is asked for without it, or two servers that do not listen yet could get the same.
    if port != 0 { Self.allowReuse(descriptor) }
    var address = Self.loopback(port: port, host: host)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard unsafe bind(descriptor, address, length) == 0 else { return false }
        Self.allowReuse(descriptor)
        return unsafe (!isOpen || listen(descriptor, backlog) == 0) && getsockname(descriptor, address, &length) == 0
      }
    }
    guard bound else {
      let code = errno
      Glibc.close(descriptor)
      throw SocketFailure("bind", code)
    }
    self.descriptor = descriptor
    self.port = Int(UInt16(bigEndian: address.sin_port))
  }

  private static func allowReuse(_ descriptor: Int32) {
    var isReused: Int32 = 1
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { Glibc.close(descriptor) }

  /// Starts listening.
  ///
  /// - Throws: ``SocketFailure`` if the system refuses.
  func open(backlog: Int32) throws {
    guard listen(descriptor, backlog) == 0 else { throw SocketFailure("listen", errno) }
  }

  /// The next connection; nil after the listener was stopped.
  func accept() -> Int32? {
    while true {
      let connection = Glibc.accept(descriptor, nil, nil)
      if connection >= 0 {
        // Child processes of other tests must not inherit the connection.
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        return connection
      }
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
  }

  /// Wakes the thread that waits in `accept`.
  func stop() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Opens a connection to `port` and leaves it unused. It counts against the backlog until it is accepted.
  ///
  /// - Returns: The descriptor, which the caller closes.
  public static func connect(to port: Int) -> Int32 {
    let descriptor = socket(
      AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var address = loopback(port: port)
    _ = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return descriptor
  }

  /// Whether connections to `port` are accepted.
  public static func isListening(_ port: Int) -> Bool {
    let descriptor = connect(to: port)
    defer { Glibc.close(descriptor) }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&waiting, 1, 1000) == 1 else { return false }
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    return code == 0
  }

  private static func loopback(port: Int, host: UInt8 = 1) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
    return address
  }
}
