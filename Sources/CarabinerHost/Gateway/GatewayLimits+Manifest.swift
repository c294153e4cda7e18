package import CarabinerGateway
package import CarabinerManifest
internal import NIOCore

extension GatewayLimits {
  /// The limits with these values in place of their own.
  package func applying(_ values: [ServeLimit: LimitValue]) -> GatewayLimits {
    var limits = self
    // In the order of the cases: a rate comes before its burst and key.
    for limit in ServeLimit.allCases { if let value = values[limit] { Access.to(limit).set(&limits, value) } }
    return limits
  }

  /// The value of a limit; nil for no limit.
  package func value(of limit: ServeLimit) -> LimitValue? { Access.to(limit).get(self) }
}

/// How a limit is read and written.
///
/// A value of another kind changes nothing. The manifest reader and the flags produce only values of the right kind.
private struct Access {
  let get: (GatewayLimits) -> LimitValue?
  let set: (inout GatewayLimits, LimitValue) -> Void

  init(_ get: @escaping (GatewayLimits) -> LimitValue?, _ set: @escaping (inout GatewayLimits, LimitValue) -> Void) {
    (self.get, self.set) = (get, set)
  }

  private static func number(_ path: WritableKeyPath<GatewayLimits, Int>) -> Access {
    Access({ .number($0[keyPath: path]) }, { if case .number(let number) = $1 { $0[keyPath: path] = number } })
  }

  private static func duration(_ path: WritableKeyPath<GatewayLimits, TimeAmount>) -> Access {
    Access(
      { .duration(Duration($0[keyPath: path])) }, { if case .duration(let time) = $1 { $0[keyPath: path] = TimeAmount(time) } })
  }

  private static func truth(_ path: WritableKeyPath<GatewayLimits, Bool>) -> Access {
    Access({ .truth($0[keyPath: path]) }, { if case .truth(let isTrue) = $1 { $0[keyPath: path] = isTrue } })
  }

  static func to(_ limit: ServeLimit) -> Access {
    switch limit {
    case .maximumBody: .number(\.maximumBodyBytes)
    case .maximumHead: .number(\.maximumHeadBytes)
    case .maximumHeadFields: .number(\.maximumHeadFields)
    case .maximumOperations: .number(\.maximumConcurrentOperations)
    case .maximumWaiting: .number(\.maximumWaitingOperations)
    case .maximumPerClient:
      Access(
        { $0.maximumOperationsPerClient.map { .number($0) } },
        { if case .number(let count) = $1 { $0.maximumOperationsPerClient = count } })
    case .rate:
      Access({ $0.rate.map { .text($0.description) } }, { if case .text(let text) = $1 { $0.rate = RequestRate(text) } })
    case .rateBurst:
      Access({ $0.rate.map { .number($0.burst) } }, { if case .number(let count) = $1 { $0.rate?.burst = count } })
    case .rateKey:
      Access({ $0.rate?.keyField.map { .text($0) } }, { if case .text(let name) = $1 { $0.rate?.keyField = name } })
    case .maximumConnections: .number(\.maximumConnections)
    case .maximumBatch: .number(\.maximumBatch)
    case .maximumFiles: .number(\.maximumFiles)
    case .maximumFile: .number(\.maximumFileBytes)
    case .maximumUpload: .number(\.maximumUploadBytes)
    case .uploadTimeout: .duration(\.uploadTimeout)
    case .receiveTimeout: .duration(\.receiveTimeout)
    case .sendTimeout: .duration(\.sendTimeout)
    case .maximumUnsentPerConnection: .number(\.maximumUnsentPerConnection)
    case .maximumUnsent: .number(\.maximumUnsent)
    case .idleTimeout: .duration(\.idleTimeout)
    case .webSocket: .truth(\.takesWebSockets)
    case .legacyWebSocket: .truth(\.takesLegacyWebSockets)
    case .allowOrigin:
      Access(
        { .texts($0.allowedOrigins.origins) }, { if case .texts(let origins) = $1 { $0.allowedOrigins = OriginRule(origins) } })
    case .maximumMessage: .number(\.maximumMessageBytes)
    case .maximumFragments: .number(\.maximumFragments)
    case .maximumPerSocket: .number(\.maximumOperationsPerSocket)
    case .keepAlive: .duration(\.keepAlive)
    case .heartbeat: .duration(\.heartbeat)
    case .http2: .truth(\.takesHTTP2)
    case .maximumStreams: .number(\.maximumStreams)
    case .maximumResets: .number(\.maximumResets)
    case .queryPage: .truth(\.servesQueryPage)
    }
  }
}
