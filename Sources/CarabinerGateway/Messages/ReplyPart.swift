internal import CarabinerHTTP1
internal import NIOCore
internal import NIOHTTP1

/// A part of a response on its way to the client.
enum ReplyPart: Sendable {
  case head(ReplyHead)
  case body(ByteBuffer)
  case end
  /// Head, body and end of a response at once. The body may be empty.
  case whole(ReplyHead, ByteBuffer)
}

/// Status and header fields of a response.
struct ReplyHead: Sendable {
  let status: HTTPResponseStatus
  /// The fields except those that frame the body.
  let fields: ReplyFields
  /// How the end of the body is found in HTTP/1.1.
  var framing = MessageWriter.Framing.none
}
