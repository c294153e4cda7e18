internal import Carabiner
internal import CarabinerWire
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

/// A connection, which is opened and closed once.
final class SocketConnection: @unchecked Sendable {
  // Only the event loop uses the properties.

  /// The events of a connection.
  enum Event {
    /// The handshake is complete.
    case opened(initialPayload: [UInt8]?)
    case text(Data)
    case binary
    /// A ping or pong frame arrived.
    case signOfLife
    /// The server violated RFC 6455. The connection is still open.
    case violation(WebSocketError.Code, String, closingWith: WebSocketCloseCode)
    /// The server closed the connection, or the connection was lost.
    case closed(WebSocketCloseCode, reason: String)
    /// The connection could not be opened.
    case failed(WebSocketError)
  }

  /// The response to a ping of the server: a frame, or a message of the protocol.
  enum Pong {
    case frame(ByteBuffer)
    case message([UInt8])

    var frame: WebSocketFrame {
      switch self {
      case .frame(let data): WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data)
      case .message(let text): .message(text)
      }
    }
  }

  /// The memory overhead of a message that waits to be sent, in bytes.
  private static let messageOverhead = 256
  /// The minimum limit of unsent bytes, for many short messages when the maximum message size is small.
  private static let minimumUnsentBytes = 1 << 20
  /// The time that the server has to answer a close frame.
  private static let closeGrace = TimeAmount.seconds(1)

  private let opening: SocketOpening
  private let loop: any EventLoop
  private let observer: (SocketConnection, Event) -> Void
  private var channel: (any Channel)?
  private var initialPayload: [UInt8]?
  private var openTimeout: Scheduled<Void>?
  private var isOver = false
  private var isOpen = false
  private var unsentBytes = 0
  /// The pongs that wait until the server reads. Only the last one of each kind is kept, because it also answers earlier pings
  /// (RFC 6455, 5.5.3).
  private var owedFrame: Pong?
  private var owedMessage: Pong?
  private let closing: EventLoopPromise<Void>

  init(_ opening: SocketOpening, _ loop: any EventLoop, _ observer: @escaping (SocketConnection, Event) -> Void) {
    self.opening = opening
    self.loop = loop
    self.observer = observer
    closing = loop.makePromise()
  }

  /// Fulfilled when the connection is closed.
  var closed: EventLoopFuture<Void> { closing.futureResult }

  // MARK: Opening

  /// - Parameter payload: The payload of the first message.
  func open(initialPayload payload: [UInt8]?) {
    guard !isOver else { return }
    initialPayload = payload
    let endpoint = opening.endpoint
    if let variable = ProxyEnvironment().variable(for: endpoint) {
      return fail(
        opening.error(
          .proxyUnsupported,
          "\(variable) sets a proxy, and WebSockets do not support proxies; add \(endpoint.host) to NO_PROXY to connect directly")
      )
    }
    openTimeout = loop.scheduleTask(in: TimeAmount(opening.configuration.connectTimeout)) { self.openingTookTooLong() }
    ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(opening.configuration.connectTimeout))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.addHandlers(to: channel) }
      }
      .connect(host: endpoint.host, port: endpoint.port)
      .whenComplete { self.connected($0) }
  }

  private func addHandlers(to channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    if opening.endpoint.usesTLS {
      let name = opening.endpoint.isAddress ? nil : opening.endpoint.host
      try pipeline.addHandler(NIOSSLClientHandler(context: try opening.tlsContext(), serverHostname: name))
    }
    let encoder = HTTPRequestEncoder()
    let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
    try pipeline.addHandler(encoder)
    try pipeline.addHandler(decoder)
    try pipeline.addHandler(HandshakeHandler(opening, self, encoder, decoder))
  }

  private func connected(_ result: Result<any Channel, any Error>) {
    switch result {
    case .success(let channel):
      self.channel = channel
      channel.closeFuture.whenComplete { _ in self.closing.succeed() }
      if isOver { channel.close(promise: nil) }
    case .failure(let error):
      fail(opening.failure(of: error))
      closing.succeed()
    }
  }

  private func openingTookTooLong() {
    guard !isOpen else { return }
    fail(
      opening.error(
        .connectTimeout,
        "the WebSocket did not open within \(opening.configuration.connectTimeout); check that the server is running, or raise the "
          + "connect timeout"))
  }

  /// The server accepted the upgrade; frames follow.
  func upgraded(_ channel: any Channel) {
    guard !isOver else { return }
    self.channel = channel
    isOpen = true
    openTimeout?.cancel()
    observer(self, .opened(initialPayload: initialPayload))
  }

  /// Closes a connection that cannot be used, without a close frame.
  func fail(_ error: WebSocketError) { report(.failed(error)) }

  // MARK: Events

  /// Passes on an event, unless the connection has ended.
  func report(_ event: Event) {
    guard !isOver else { return }
    switch event {
    case .opened, .text, .binary, .signOfLife, .violation: break
    case .closed, .failed:
      isOver = true
      openTimeout?.cancel()
      if let channel { channel.close(promise: nil) } else { closing.succeed() }
    }
    observer(self, event)
  }

  // MARK: Commands

  func send(_ text: [UInt8]) {
    guard isOpen, !isOver, let channel else { return }
    let size = text.count + Self.messageOverhead
    unsentBytes += size
    guard unsentBytes <= max(opening.configuration.maximumMessageBytes, Self.minimumUnsentBytes) else {
      return report(
        .failed(
          opening.error(
            .connectionLost,
            "\(unsentBytes) bytes wait to be sent and the server does not read; check the server, or raise the maximum message size"
          )))
    }
    channel.write(WebSocketFrame.message(text)).whenComplete { _ in self.unsentBytes -= size }
  }

  /// Answers a ping now, or when the server reads again.
  func answer(_ pong: Pong) {
    guard isOpen, !isOver, let channel else { return }
    guard !channel.isWritable else { return channel.writeAndFlush(pong.frame, promise: nil) }
    switch pong {
    case .frame: owedFrame = pong
    case .message: owedMessage = pong
    }
  }

  /// The server reads again.
  func becameWritable() {
    let owed = [owedFrame, owedMessage].compactMap(\.self)
    (owedFrame, owedMessage) = (nil, nil)
    for pong in owed { answer(pong) }
  }

  func ping() {
    guard isOpen, !isOver, let channel else { return }
    channel.write(WebSocketFrame(fin: true, opcode: .ping, maskKey: .random(), data: ByteBuffer()), promise: nil)
  }

  /// Sends a ping frame with data, and calls `written` when it is written.
  func ping(_ data: [UInt8], written: @escaping @Sendable () -> Void) {
    guard isOpen, !isOver, let channel else { return }
    let frame = WebSocketFrame(fin: true, opcode: .ping, maskKey: .random(), data: ByteBuffer(bytes: data))
    channel.writeAndFlush(frame).whenSuccess(written)
  }

  func flush() { channel?.flush() }

  /// Sets whether the channel reads automatically.
  func readsByItself(_ reads: Bool) {
    guard !isOver, let channel else { return }
    try? channel.syncOptions?.setOption(.autoRead, value: reads)
  }

  /// Sends a close frame, waits a second for the answer, and closes the connection.
  func close(_ code: WebSocketCloseCode, reason: String) {
    guard !isOver else { return }
    isOver = true
    openTimeout?.cancel()
    guard let channel else { return closing.succeed() }
    guard isOpen else { return channel.close(promise: nil) }
    // The answer must be read, also if reading is paused.
    try? channel.syncOptions?.setOption(.autoRead, value: true)
    channel.writeAndFlush(WebSocketFrame.closing(code, reason: reason), promise: nil)
    let grace = loop.scheduleTask(in: Self.closeGrace) { channel.close(promise: nil) }
    closed.whenComplete { _ in grace.cancel() }
  }

  /// Whether all further input is ignored.
  var isClosing: Bool { isOver }
}

extension WebSocketFrame {
  fileprivate static func message(_ text: [UInt8]) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: text))
  }

  /// A close frame. A reason that is too long is truncated.
  static func closing(_ code: WebSocketCloseCode, reason: String) -> WebSocketFrame {
    WebSocketFrame(
      fin: true, opcode: .connectionClose, maskKey: .random(), data: ByteBuffer(bytes: code.payload(reason: reason)))
  }
}
