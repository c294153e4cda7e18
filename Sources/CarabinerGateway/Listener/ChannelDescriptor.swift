internal import FoundationEssentials
internal import Glibc
internal import NIOCore

/// Finds the descriptor of a channel's socket, which the library does not return.
enum ChannelDescriptor {
  /// `SO_COOKIE`, the option with the number that the system has given to a socket.
  private static let cookieOption: Int32 = 57

  /// Returns a new descriptor of the socket of an open channel. The caller closes it.
  ///
  /// It searches all descriptors of the process, so it is too slow to be called for each request.
  ///
  /// - Throws: ``GatewayError`` if the channel is closed.
  static func duplicate(of channel: any Channel) async throws -> Int32 {
    guard let provider = channel as? any SocketOptionProvider else { throw GatewayError.noDescriptor }
    let read: EventLoopFuture<UInt64> = provider.unsafeGetSocketOption(level: .socket, name: .init(rawValue: cookieOption))
    let wanted = try await read.get()
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let descriptor = Int32(name), cookie(of: descriptor) == wanted else { continue }
      let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      // The descriptor may have been closed and given to another file in between.
      if copy >= 0, cookie(of: copy) == wanted { return copy }
      if copy >= 0 { close(copy) }
    }
    throw GatewayError.noDescriptor
  }

  private static func cookie(of descriptor: Int32) -> UInt64? {
    var cookie: UInt64 = 0
    var size = socklen_t(MemoryLayout<UInt64>.size)
    return unsafe getsockopt(descriptor, SOL_SOCKET, cookieOption, &cookie, &size) == 0 ? cookie : nil
  }
}

extension GatewayError {
  fileprivate static let noDescriptor = GatewayError(.cannotListen, "the connection or the listener is closed")
}

extension GatewayReply {
  /// Returns a new descriptor of the connection. The caller closes it.
  package func duplicateDescriptor() async throws -> Int32 { try await ChannelDescriptor.duplicate(of: channel) }
}
