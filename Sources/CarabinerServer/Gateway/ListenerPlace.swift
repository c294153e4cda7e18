internal import CarabinerGateway

/// Where a server listens: at an address, or at a socket that a running gateway has bound.
struct ListenerPlace: Sendable {
  let address: GatewayServer.Address
  /// The address of an inherited socket; nil for one that is bound here.
  let identity: GatewayServer.Identity?

  init(_ address: GatewayServer.Address) {
    self.address = address
    identity = nil
  }

  init(_ socket: Inheritance.Socket) {
    address = .descriptor(socket.descriptor)
    identity = socket.identity
  }

  /// The places for clients. Without addresses, they are the sockets of the service manager, or all of a running gateway.
  static func forClients(_ configuration: Gateway.Configuration) throws -> [ListenerPlace] {
    guard configuration.addresses.isEmpty else { return try at(configuration.addresses, configuration) }
    if !configuration.inherited.isEmpty { return configuration.inherited.map { ListenerPlace($0) } }
    return (configuration.inheritance?.takeListeners() ?? []).map { ListenerPlace($0) }
  }

  /// The places of addresses, each inherited if the running gateway has it.
  static func at(_ addresses: [String], _ configuration: Gateway.Configuration) throws -> [ListenerPlace] {
    try addresses.map { text in
      guard let address = GatewayServer.Address(text) else {
        throw ServerError.invalid("an address is HOST:PORT, unix:PATH or fd:NUMBER, not \(text.debugDescription)")
      }
      return configuration.inheritance?.takeListener(for: address).map { ListenerPlace($0) } ?? ListenerPlace(address)
    }
  }
}
