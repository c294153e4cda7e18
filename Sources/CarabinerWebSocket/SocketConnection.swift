internal import Carabiner
internal import CarabinerWire
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

/// One connection: opened once, closed once.
final class SocketConnection: @unchecked Sendable {
  // Only the event loop uses the properties.

  /// The events of a connection.
  enum Event {
    /// The handshake is done.
    case opened(initialPayload: [UInt8]?)
    case text(Data)
    case binary
    /// A ping or pong frame arrived.
    case signOfLife
    /// The server violated RFC 6455. The connection is still open.
    case violation(WebSocketError.Code, String, closingWith: WebSocketCloseCode)
    /// The server closed it, or it ended.
    case closed(WebSocketCloseCode, reason: String)
    /// It could not be opened.
    case failed(WebSocketError)
  }

  /// The answer to a ping of the server: a frame, or a message of the protocol.
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

  /// The memory that a message takes beside its text while it waits to be sent.
  private static let messageOverhead = 256
  /// What may wait to be sent although the maximum message size is smaller: many short messages.
  private static let minimumUnsentBytes = 1 << 20
  /// How long the server may take to answer a close frame.
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
  /// The pongs that wait until the server reads: the last of each kind, which answers the pings before it as well (RFC 6455, 5.5.3).
  private var owedFrame: Pong?
  private var owedMessage: Pong?
  private let closing: EventLoopPromise<Void>

  init(_ opening: SocketOpening, _ loop: any EventLoop, _ observer: @escaping (SocketConnection, Event) -> Void) {
    self.opening = opening
    self.loop = loop
    self.observer = observer
    closing = loop.makePromise()
  }

  /// Done when the connection is closed.
  var closed: EventLoopFuture<Void> { closing.futureResult }

  // MARK: Opening

  /// - Parameter payload: What the first message will carry.
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

  /// The server agreed; frames follow.
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

  /// Passes on an event, and none after the end.
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

  // MARK: What is asked of it

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

  /// Answers a ping now, or once the server reads.
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

  func flush() { channel?.flush() }

  /// Whether it reads without being asked.
  func readsByItself(_ reads: Bool) {
    guard !isOver, let channel else { return }
    try? channel.syncOptions?.setOption(.autoRead, value: reads)
  }

  /// Sends a close frame, waits a moment for the answer, and closes.
  func close(_ code: WebSocketCloseCode, reason: String) {
    guard !isOver else { return }
    isOver = true
    openTimeout?.cancel()
    guard let channel else { return closing.succeed() }
    guard isOpen else { return channel.close(promise: nil) }
    // The answer has to be read, also if nothing else is.
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

  /// A close frame; a reason that is too long for one is cut.
  static func closing(_ code: WebSocketCloseCode, reason: String) -> WebSocketFrame {
    WebSocketFrame(
      fin: true, opcode: .connectionClose, maskKey: .random(), data: ByteBuffer(bytes: code.payload(reason: reason)))
  }
}
