internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1

/// A request whose body is still arriving while its response is produced.
struct InboundUpload {
  let reply: GatewayReply
  let body: InboundBody
  /// The time by which the whole body must have arrived.
  let end: NIODeadline
  /// The number of bytes that have arrived.
  var received = 0

  /// Fails the upload. The operation that reads its body then answers the request.
  func fail(_ refusal: HTTPRefusal) { body.end(.failure(RequestRefusal(refusal))) }

  /// The refusal of an upload whose deadline has passed.
  func lateness(at now: NIODeadline, _ limits: GatewayLimits) -> HTTPRefusal {
    let isOver = end <= now
    let time = (isOver ? limits.uploadTimeout : limits.receiveTimeout).nanoseconds / 1_000_000
    let fact = isOver ? "the upload did not arrive completely" : "no byte of the upload arrived"
    return HTTPRefusal(status: .requestTimeout, message: "\(fact) within \(time) ms")
  }
}

extension RequestRefusal {
  fileprivate init(_ refusal: HTTPRefusal) {
    self.init(Int(refusal.status.code), refusal.message, code: RefusalText.code(of: refusal.status))
  }
}
