import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import CarabinerGateway

/// An HTTP/1.1 connection without a network. A test sends and receives bytes, and advances the clock.
final class EmbeddedGateway {
  let channel = EmbeddedChannel()
  private let outlet = ClientOutlet()
  private let connections: OpenConnections

  init(_ handler: any RequestHandler, limits: GatewayLimits = GatewayLimits()) throws {
    connections = OpenConnections(unsent: UnsentTotal(limits))
    try channel.pipeline.syncOperations.addHandler(outlet)
    try GatewayServer.installHTTP1(on: channel, handler, CurrentSettings(limits: limits), connections: connections)
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
  }

  deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

  /// The number of unsent response bytes, except for small amounts that are not tracked.
  var unsent: Int { connections.unsent.waiting }
  /// The number of reads that the gateway requested.
  var reads: Int { outlet.reads }
  var isOpen: Bool { channel.isActive }

  /// Sends the event for a shutdown.
  func drain() { connections.drain() }

  func send(_ text: String) throws {
    guard isOpen else { return }
    try channel.writeInbound(ByteBuffer(string: text))
    channel.pipeline.fireChannelReadComplete()
    // As a channel with autoRead does.
    channel.pipeline.read()
    run()
  }

  /// Runs the pending tasks of the connection.
  func run() { channel.embeddedEventLoop.run() }

  /// Closes the client's sending side.
  func finish() {
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    run()
  }

  /// Advances the clock.
  func wait(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

  /// Stops reading, so that writes wait.
  func stall() {
    outlet.isStalled = true
    channel.isWritable = false
    channel.pipeline.fireChannelWritabilityChanged()
  }

  /// Completes some of the pending writes.
  func take(_ count: Int) { outlet.take(count) }

  /// Completes all pending and later writes.
  func takeAll() {
    outlet.isStalled = false
    outlet.take(.max)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    run()
  }

  /// The bytes sent to the client since the last call.
  func received() throws -> String {
    var text = ""
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
    return text
  }
}

/// Simulates a client that reads late.
private final class ClientOutlet: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  var isStalled = false
  private(set) var reads = 0
  private var writes = CircularBuffer<(NIOAny, EventLoopPromise<Void>?)>()
  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelInactive(context: ChannelHandlerContext) {
    while let (_, promise) = writes.popFirst() { promise?.fail(ChannelError.ioOnClosedChannel) }
    context.fireChannelInactive()
  }

  func read(context: ChannelHandlerContext) {
    reads += 1
    context.read()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isStalled { writes.append((data, promise)) } else { context.write(data, promise: promise) }
  }

  func flush(context: ChannelHandlerContext) { if !isStalled { context.flush() } }

  func take(_ count: Int) {
    for _ in 0..<min(count, writes.count) {
      let (data, promise) = writes.removeFirst()
      context?.write(data, promise: promise)
    }
    context?.flush()
  }
}
