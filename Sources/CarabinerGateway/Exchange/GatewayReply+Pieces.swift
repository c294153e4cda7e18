internal import NIOCore
internal import NIOHTTP1

extension GatewayReply {
  /// Sends a short piece without waiting until it is written to the socket.
  func write(_ bytes: ByteBuffer) {
    onLoop { channel in
      channel.pipeline.syncOperations.writeAndFlush(NIOAny(ReplyPart.body(bytes)), promise: nil)
    }
  }

  /// Sends a piece at an interval until the response ends.
  func repeatedly(_ bytes: ByteBuffer, every interval: TimeAmount) {
    onLoop { channel in self.schedule(bytes, every: interval, on: channel) }
  }

  private func schedule(_ bytes: ByteBuffer, every interval: TimeAmount, on channel: any Channel) {
    connections.timers.call(self, after: interval, on: channel.eventLoop) { [weak channel] reply in
      guard let channel, !reply.isOver, channel.isActive else { return }
      // If the client does not read, no piece is added, so that the pieces do not accumulate.
      if channel.isWritable { reply.write(bytes) }
      reply.schedule(bytes, every: interval, on: channel)
    }
  }
}
