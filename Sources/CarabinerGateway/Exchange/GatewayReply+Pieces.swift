internal import NIOCore

extension GatewayReply {
  /// Sends a short piece without waiting until it is written to the socket.
  func write(_ bytes: ByteBuffer) { send(.body(bytes)) }

  /// Sends a piece at an interval until the response ends.
  func repeatedly(_ bytes: ByteBuffer, every interval: TimeAmount) {
    onLoop { [self] in schedule(bytes, every: interval) }
  }

  private func schedule(_ bytes: ByteBuffer, every interval: TimeAmount) {
    connections.timers.call(self, after: interval, on: channel.eventLoop) { reply in
      guard !reply.isOver, reply.isActive else { return }
      // If the client does not read, no piece is added, so that the pieces do not accumulate.
      if reply.isWritable { reply.write(bytes) }
      reply.schedule(bytes, every: interval)
    }
  }
}
