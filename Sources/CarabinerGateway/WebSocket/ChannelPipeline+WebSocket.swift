internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
  /// Adds the WebSocket handlers and removes those of HTTP. The HTTP decoder must have been removed before.
  func makeWay(for socket: SocketHandler, after connection: ConnectionHandler) throws {
    let frames = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: socket.maximumMessageBytes))
    try addHandlers([frames, WebSocketFrameEncoder(), socket], position: .after(connection))
    removeHandler(try handler(type: HTTPResponseEncoder.self), promise: nil)
    removeHandler(try handler(type: NIOHTTPResponseHeadersValidator.self), promise: nil)
    removeHandler(connection, promise: nil)
  }
}
