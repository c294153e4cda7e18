internal import NIOCore
internal import NIOHTTP1

/// A request that is answered with an error status; its connection is closed afterwards.
struct HTTPRefusal: Error, Hashable {
  let status: HTTPResponseStatus
  let message: String

  static let headTooLarge = Self(
    status: .requestHeaderFieldsTooLarge,
    message: "the head of the request is too large; send fewer or shorter header fields")

  /// The refusal of a request whose body does not arrive in time.
  static func late(_ limits: GatewayLimits) -> Self {
    let time = limits.receiveTimeout.nanoseconds / 1_000_000
    return Self(status: .requestTimeout, message: "the request did not arrive completely within \(time) ms")
  }

  static func bodyTooLarge(_ limits: GatewayLimits) -> Self {
    Self(status: .payloadTooLarge, message: "the body is longer than \(limits.maximumBodyBytes) bytes (maximum-body)")
  }

  static func uploadTooLarge(_ limits: GatewayLimits) -> Self {
    Self(status: .payloadTooLarge, message: "the upload is longer than \(limits.maximumUploadBytes) bytes (maximum-upload)")
  }
}
