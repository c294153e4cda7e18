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
    // The timer is not cancelled when the response ends, so it must not retain the reply.
    _ = channel.eventLoop.scheduleTask(in: interval) { [weak self, weak channel] in
      guard let self, let channel, !isOver, channel.isActive else { return }
      // If the client does not read, no piece is added, so that the pieces do not accumulate.
      if channel.isWritable { write(bytes) }
      schedule(bytes, every: interval, on: channel)
    }
  }
}
