internal import NIOCore
internal import NIOHTTP1

/// An accepted WebSocket, which takes over its connection.
package struct SocketUpgrade: Sendable {
  /// The header fields of the 101 response.
  let answer: HTTPHeaders
  /// Makes the handlers that replace those of HTTP, in their order in the pipeline.
  let handlers: @Sendable (OpenConnections) -> [any ChannelHandler]
}
