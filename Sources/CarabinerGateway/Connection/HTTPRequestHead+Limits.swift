internal import NIOHTTP1

extension HTTPRequestHead {
  /// Whether the head is within the limits on fields and bytes.
  func isWithin(_ limits: GatewayLimits) -> Bool {
    headers.count <= limits.maximumHeadFields
      && headers.reduce(uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } <= limits.maximumHeadBytes
  }
}
