internal import CarabinerWire

extension GatewaySettings {
  /// Whether an address is that of a trusted proxy.
  func trusts(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

  /// The fields about a request's client that the upstream gets; nil if it gets none.
  func forwardedFields(of request: GatewayRequest) -> ForwardedFields? {
    sendsForwardedFields ? ForwardedFields(request.head.headers, request.origin) : nil
  }
}
