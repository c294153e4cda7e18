internal import NIOCore

/// A request whose body is still arriving while its response is produced.
struct InboundUpload {
  let reply: GatewayReply
  let body: InboundBody
  /// The time by which the whole body must have arrived.
  let end: NIODeadline
  /// The number of bytes that have arrived.
  var received = 0
}
