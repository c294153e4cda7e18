internal import CarabinerCalls

extension CallConfig {
  /// The settings for the calls of a client.
  init(_ config: ProtocolClientConfig) {
    let network: Network =
      switch config.networkProtocol {
      case .connect: .connect(getLimit: config.unaryGET.limit)
      case .grpcWeb: .grpcWeb
      case .custom: .custom
      }
    let options = ProtocolOptions(
      codecName: config.codec.name(), requestPool: config.requestCompression?.pool,
      compressFrom: config.requestCompression?.minBytes ?? 0, responsePools: config.responseCompressionPools,
      maximumMessageBytes: config.maximumMessageBytes)
    self.init(
      host: config.host, network: network, options: options, timeout: config.timeout, hookLimits: config.hookLimits)
  }
}

extension ProtocolClientConfig.UnaryGET {
  /// The largest message that is sent by GET; nil for none.
  fileprivate var limit: Int? {
    switch self {
    case .disabled: nil
    case .alwaysEnabled: .max
    case .enabledForLimitedPayloadSizes(let maxBytes): maxBytes
    }
  }
}
