internal import CarabinerWire

extension GatewaySettings {
  /// Whether an address is that of a trusted proxy.
  func trusts(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

  /// The fields about the client of a request for the upstream; nil if it gets none.
  func forwardedFields(of request: GatewayRequest) -> ForwardedFields? {
    sendsForwardedFields ? ForwardedFields(request.head.headers, request.origin) : nil
  }
}
