internal import NIOCore
internal import NIOHTTP1

extension GatewayReply {
  /// Sends a piece that is short, and does not wait until it has left.
  func write(_ bytes: ByteBuffer) {
    onLoop { channel in
      channel.pipeline.syncOperations.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil)
    }
  }

  /// Sends a piece now and then until the answer ends.
  func repeatedly(_ bytes: ByteBuffer, every interval: TimeAmount) {
    onLoop { channel in self.schedule(bytes, every: interval, on: channel) }
  }

  private func schedule(_ bytes: ByteBuffer, every interval: TimeAmount, on channel: any Channel) {
    // A timer is not taken back when the answer ends, so it must not hold the answer.
    _ = channel.eventLoop.scheduleTask(in: interval) { [weak self, weak channel] in
      guard let self, let channel, !isOver, channel.isActive else { return }
      // What a client does not read would pile up.
      if channel.isWritable { write(bytes) }
      schedule(bytes, every: interval, on: channel)
    }
  }
}
