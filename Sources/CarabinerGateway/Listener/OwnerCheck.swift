internal import Glibc
internal import NIOCore

/// Closes connections from processes of other users, because a client of this socket may change what the host runs.
final class OwnerCheck: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// The credentials of the process at the other end; `struct ucred` in C.
  private struct Credentials: Sendable {
    var process: pid_t
    var user: uid_t
    var group: gid_t
  }

  func channelActive(context: ChannelHandlerContext) {
    guard let provider = context.channel as? any SocketOptionProvider else { return context.close(promise: nil) }
    let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
      level: .socket, name: .init(rawValue: SO_PEERCRED))
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    credentials.whenComplete { result in
      guard case .success(let peer) = result, peer.user == getuid() || peer.user == 0 else {
        return bound.value.close(promise: nil)
      }
      bound.value.fireChannelActive()
    }
  }
}
