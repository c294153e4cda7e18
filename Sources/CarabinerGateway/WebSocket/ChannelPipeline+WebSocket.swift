internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

extension ChannelPipeline.SynchronousOperations {
  /// Puts what reads frames in the place of what wrote HTTP; what read it is gone already.
  func makeWay(for socket: SocketHandler, after connection: ConnectionHandler) throws {
    let frames = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: socket.maximumMessageBytes))
    try addHandlers([frames, WebSocketFrameEncoder(), socket], position: .after(connection))
    removeHandler(try handler(type: HTTPResponseEncoder.self), promise: nil)
    removeHandler(try handler(type: NIOHTTPResponseHeadersValidator.self), promise: nil)
    removeHandler(connection, promise: nil)
  }
}
