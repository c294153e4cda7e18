internal import CarabinerRESP
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Reads answers from a channel.
final class ReplyHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: RedisConnection
  private var reader: ReplyReader

  init(_ connection: RedisConnection, _ limits: RESPLimits) {
    self.connection = connection
    reader = ReplyReader(limits: limits)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !connection.isOver else { return }
    reader.append(unwrapInboundIn(data).readableBytesView)
    do throws(RESPError) {
      while !connection.isOver, let reply = try reader.next() { connection.received(reply) }
    } catch {
      connection.fail(RedisError(.protocolViolation, "\(connection.server) sent a \(error)"))
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { connection.secured() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection.fail(RedisError(.connectionLost, "\(connection.server) closed the connection; check its log"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let tls = try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
    connection.fail(error, certificate: tls?.peerCertificate)
  }
}
