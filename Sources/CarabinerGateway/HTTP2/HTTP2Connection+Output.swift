internal import NIOCore

/// Writes the frames of the session, once for each turn of the loop.
extension HTTP2Connection {
  /// The maximum number of bytes of a write, beside the last frame.
  private static let maximumWrite = 64 << 10
  /// How often the session is asked for frames that end the connection. Each time, it has at least a frame.
  private static let maximumLastWrites = 16

  var isWritable: Bool { context?.channel.isWritable == true }

  /// Notes that the session has frames.
  ///
  /// - Parameter bytes: How many bytes they are likely to have.
  func hasOutput(_ bytes: Int = 0) { expected = (expected ?? StreamOutput.usualHeadBytes) + bytes }

  /// Sends the frames of the session. While the reads of a turn are not complete, they are sent at its end.
  func flush() {
    guard !isReading, phase != .ending else { return }
    write()
    guard isUnflushed, let context else { return }
    isUnflushed = false
    context.flush()
  }

  /// Writes the frames of the session while the client reads.
  func write() {
    guard phase != .ending, let context else { return }
    while expected != nil, context.channel.isWritable { writeOnce(context) }
    settleBroken()
    if hasSentEnd || budget.isExceeded { return end(.enhanceYourCalm) }
    if phase != .open { finishDraining() }
  }

  /// Writes the frames of a session that ends, also if the client does not read.
  func writeAll(_ context: ChannelHandlerContext) {
    for _ in 0..<Self.maximumLastWrites where expected != nil && !hasSentEnd { writeOnce(context) }
  }

  private func writeOnce(_ context: ChannelHandlerContext) {
    var buffer = ByteBuffer()
    let isFull = session.write(
      to: &buffer, maximum: Self.maximumWrite, expected: min(expected ?? 0, Self.maximumWrite + FrameHead.maximumPayload))
    expected = isFull ? Self.maximumWrite : nil
    guard buffer.readableBytes > 0 else { return fulfil(nil) }
    isUnflushed = true
    guard !taken.isEmpty else { return context.write(wrapOutboundOut(buffer), promise: nil) }
    let written = loop.makePromise(of: Void.self)
    fulfil(written)
    context.write(wrapOutboundOut(buffer), promise: written)
  }

  /// Fulfils the promises of the pieces that were taken, when they are written.
  private func fulfil(_ written: EventLoopPromise<Void>?) {
    guard !taken.isEmpty else { return }
    let promises = taken
    taken.removeAll(keepingCapacity: true)
    for promise in promises {
      if let written { written.futureResult.cascade(to: promise) } else { promise.succeed() }
    }
  }
}
