import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import CarabinerGateway

/// One connection of HTTP/1.1 without a network: a test sends bytes, takes bytes, and turns the clock.
final class EmbeddedGateway {
  let channel = EmbeddedChannel()
  private let outlet = ClientOutlet()
  private let connections: OpenConnections

  init(_ handler: any RequestHandler, limits: GatewayLimits = GatewayLimits()) throws {
    connections = OpenConnections(unsent: UnsentTotal(limits))
    try channel.pipeline.syncOperations.addHandler(outlet)
    try GatewayServer.installHTTP1(on: channel, handler, limits: limits, connections: connections)
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
  }

  deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

  /// How many bytes of answers wait, those aside that may be forgotten because they are few.
  var unsent: Int { connections.unsent.waiting }
  /// How often the gateway asked for more bytes.
  var reads: Int { outlet.reads }
  var isOpen: Bool { channel.isActive }

  /// Says that the gateway ends.
  func drain() { connections.drain() }

  func send(_ text: String) throws {
    guard isOpen else { return }
    try channel.writeInbound(ByteBuffer(string: text))
    channel.pipeline.fireChannelReadComplete()
    // As a channel does that reads on by itself.
    channel.pipeline.read()
    run()
  }

  /// Lets the connection do what it has put off.
  func run() { channel.embeddedEventLoop.run() }

  /// Says that the client sends nothing more.
  func finish() {
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    run()
  }

  /// Turns the clock.
  func wait(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

  /// Takes nothing more, so that what is written waits.
  func stall() {
    outlet.isStalled = true
    channel.isWritable = false
    channel.pipeline.fireChannelWritabilityChanged()
  }

  /// Takes some of the writes that wait.
  func take(_ count: Int) { outlet.take(count) }

  /// Takes all that waits, and what comes.
  func takeAll() {
    outlet.isStalled = false
    outlet.take(.max)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    run()
  }

  /// What was sent to the client since the last time.
  func received() throws -> String {
    var text = ""
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
    return text
  }
}

/// Stands for a client that reads late.
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
