internal import NIOCore
internal import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
  /// Adds the WebSocket handlers and removes those of HTTP.
  func makeWay(for socket: SocketHandler, after connection: ConnectionHandler) throws {
    let frames = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: socket.maximumMessageBytes))
    try addHandlers([frames, WebSocketFrameEncoder(), socket], position: .after(connection))
    removeHandler(try handler(type: HTTP1Codec.self), promise: nil)
    removeHandler(connection, promise: nil)
  }
}
