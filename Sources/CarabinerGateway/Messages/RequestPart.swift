internal import NIOCore

/// A part of a request on its way from the reader of a protocol.
enum RequestPart: Sendable {
  case head(RequestHead)
  case body(ByteBuffer)
  case end
  /// A request whose head and body arrived at once. The body may be empty.
  case whole(RequestHead, ByteBuffer)
}
