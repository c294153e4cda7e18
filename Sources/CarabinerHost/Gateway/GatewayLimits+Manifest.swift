package import CarabinerGateway
package import CarabinerManifest
internal import NIOCore

extension GatewayLimits {
  /// The limits with these values in place of their own.
  package func applying(_ values: [ServeLimit: LimitValue]) -> GatewayLimits {
    var limits = self
    // In the order of the cases: a rate comes before its burst and key.
    for limit in ServeLimit.allCases { if let value = values[limit] { limits.set(limit, to: value) } }
    return limits
  }

  private mutating func set(_ limit: ServeLimit, to value: LimitValue) {
    switch (limit, value) {
    case (.maximumBody, .number(let bytes)): maximumBodyBytes = bytes
    case (.maximumHead, .number(let bytes)): maximumHeadBytes = bytes
    case (.maximumHeadFields, .number(let count)): maximumHeadFields = count
    case (.maximumOperations, .number(let count)): maximumConcurrentOperations = count
    case (.maximumWaiting, .number(let count)): maximumWaitingOperations = count
    case (.maximumPerClient, .number(let count)): maximumOperationsPerClient = count
    case (.rate, .text(let text)): rate = RequestRate(text)
    case (.rateBurst, .number(let count)): rate?.burst = count
    case (.rateKey, .text(let name)): rate?.keyField = name
    case (.maximumConnections, .number(let count)): maximumConnections = count
    case (.maximumBatch, .number(let count)): maximumBatch = count
    case (.maximumFiles, .number(let count)): maximumFiles = count
    case (.maximumFile, .number(let bytes)): maximumFileBytes = bytes
    case (.maximumUpload, .number(let bytes)): maximumUploadBytes = bytes
    case (.uploadTimeout, .duration(let time)): uploadTimeout = TimeAmount(time)
    case (.receiveTimeout, .duration(let time)): receiveTimeout = TimeAmount(time)
    case (.sendTimeout, .duration(let time)): sendTimeout = TimeAmount(time)
    case (.maximumUnsentPerConnection, .number(let bytes)): maximumUnsentPerConnection = bytes
    case (.maximumUnsent, .number(let bytes)): maximumUnsent = bytes
    case (.idleTimeout, .duration(let time)): idleTimeout = TimeAmount(time)
    case (.webSocket, .truth(let isTaken)): takesWebSockets = isTaken
    case (.legacyWebSocket, .truth(let isTaken)): takesLegacyWebSockets = isTaken
    case (.allowOrigin, .texts(let origins)): allowedOrigins = OriginRule(origins)
    case (.maximumMessage, .number(let bytes)): maximumMessageBytes = bytes
    case (.maximumFragments, .number(let count)): maximumFragments = count
    case (.maximumPerSocket, .number(let count)): maximumOperationsPerSocket = count
    case (.keepAlive, .duration(let time)): keepAlive = TimeAmount(time)
    case (.heartbeat, .duration(let time)): heartbeat = TimeAmount(time)
    case (.http2, .truth(let isTaken)): takesHTTP2 = isTaken
    case (.maximumStreams, .number(let count)): maximumStreams = count
    case (.maximumResets, .number(let count)): maximumResets = count
    case (.queryPage, .truth(let isServed)): servesQueryPage = isServed
    // The reader and the flags give each limit a value of its kind.
    default: break
    }
  }

  /// The value of a limit; nil for no limit.
  package func value(of limit: ServeLimit) -> LimitValue? {
    switch limit {
    case .maximumBody: .number(maximumBodyBytes)
    case .maximumHead: .number(maximumHeadBytes)
    case .maximumHeadFields: .number(maximumHeadFields)
    case .maximumOperations: .number(maximumConcurrentOperations)
    case .maximumWaiting: .number(maximumWaitingOperations)
    case .maximumPerClient: maximumOperationsPerClient.map { .number($0) }
    case .rate: rate.map { .text($0.description) }
    case .rateBurst: rate.map { .number($0.burst) }
    case .rateKey: rate?.keyField.map { .text($0) }
    case .maximumConnections: .number(maximumConnections)
    case .maximumBatch: .number(maximumBatch)
    case .maximumFiles: .number(maximumFiles)
    case .maximumFile: .number(maximumFileBytes)
    case .maximumUpload: .number(maximumUploadBytes)
    case .uploadTimeout: .duration(Duration(uploadTimeout))
    case .receiveTimeout: .duration(Duration(receiveTimeout))
    case .sendTimeout: .duration(Duration(sendTimeout))
    case .maximumUnsentPerConnection: .number(maximumUnsentPerConnection)
    case .maximumUnsent: .number(maximumUnsent)
    case .idleTimeout: .duration(Duration(idleTimeout))
    case .webSocket: .truth(takesWebSockets)
    case .legacyWebSocket: .truth(takesLegacyWebSockets)
    case .allowOrigin: .texts(allowedOrigins.origins)
    case .maximumMessage: .number(maximumMessageBytes)
    case .maximumFragments: .number(maximumFragments)
    case .maximumPerSocket: .number(maximumOperationsPerSocket)
    case .keepAlive: .duration(Duration(keepAlive))
    case .heartbeat: .duration(Duration(heartbeat))
    case .http2: .truth(takesHTTP2)
    case .maximumStreams: .number(maximumStreams)
    case .maximumResets: .number(maximumResets)
    case .queryPage: .truth(servesQueryPage)
    }
  }
}
