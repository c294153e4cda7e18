internal import CarabinerGateway

/// The place at which a server listens: an address, or a socket that a running gateway has bound.
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

  /// The place of an address, which is inherited if the running gateway has it.
  init(_ address: GatewayServer.Address, _ inheritance: Inheritance?) {
    let socket = inheritance?.takeListener(for: address)
    self.address = socket.map { .descriptor($0.descriptor) } ?? address
    // A reload finds the listener by this name.
    identity = socket.map { GatewayServer.Identity(requested: address.description, name: $0.identity.name) }
  }

  /// The name of the listener: the address that was requested.
  var name: String { identity?.requested ?? address.description }

  /// The places that the configuration names. Without addresses, these are the sockets of the service manager, or all sockets of a running
  /// gateway.
  ///
  /// - Returns: Nil if the configuration names none.
  static func ofFlags(_ configuration: Gateway.Configuration, _ hasListeners: Bool) throws -> [ListenerPlace]? {
    guard configuration.addresses.isEmpty else { return try at(configuration.addresses, configuration) }
    if !configuration.inherited.isEmpty { return configuration.inherited.map { ListenerPlace($0) } }
    guard let inheritance = configuration.inheritance, !hasListeners else { return nil }
    return inheritance.takeListeners().map { ListenerPlace($0) }
  }

  /// The places of addresses, each inherited if the running gateway has it.
  static func at(_ addresses: [String], _ configuration: Gateway.Configuration) throws -> [ListenerPlace] {
    try addresses.map { ListenerPlace(try address($0), configuration.inheritance) }
  }

  static func address(_ text: String) throws -> GatewayServer.Address {
    guard let address = GatewayServer.Address(text) else {
      throw ServerError.invalid("an address is HOST:PORT, unix:PATH or fd:NUMBER, not \(text.debugDescription)")
    }
    return address
  }
}
