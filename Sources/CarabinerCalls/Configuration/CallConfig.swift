package import FoundationEssentials

/// The settings of the calls of a client.
package struct CallConfig: Sendable {
  /// The protocol between client and server.
  package enum Network: Sendable {
    /// The Connect protocol.
    ///
    /// A unary call without side effects is sent by GET if its message has at most so many bytes after compression; nil for never.
    case connect(getLimit: Int?)
    /// The gRPC-Web protocol.
    case grpcWeb
    /// A protocol of the last hooks. Requests are sent as these leave them.
    case custom
  }

  /// The URL of the server. It may have a path.
  package var host: String
  /// The protocol.
  package var network: Network
  /// The settings of the protocol for messages.
  package var options: ProtocolOptions
  /// The time limit of a call in seconds, hooks included; nil for none.
  package var timeout: TimeInterval?
  /// The limits of hooks.
  package var hookLimits: HookLimits

  /// Creates settings.
  package init(
    host: String, network: Network, options: ProtocolOptions, timeout: TimeInterval? = nil, hookLimits: HookLimits = HookLimits()
  ) {
    self.host = host
    self.network = network
    self.options = options
    self.timeout = timeout
    self.hookLimits = hookLimits
  }

  /// The step between hooks and network.
  var wire: any CallProtocol {
    switch network {
    case .connect: ConnectProtocol(options)
    case .grpcWeb: GRPCWebProtocol(options)
    case .custom: CustomProtocol(options: options)
    }
  }
}
