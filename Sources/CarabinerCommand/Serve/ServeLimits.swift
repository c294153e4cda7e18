internal import ArgumentParser
internal import Carabiner
internal import CarabinerGateway
internal import CarabinerManifest

/// The flags for the limits of a gateway. A flag wins over the same key of `serve: {limits: …}` in the manifest.
struct ServeLimits: ParsableArguments {
  @Option(name: .long, help: help(.maximumBody), transform: size) var maximumBody: Int?
  @Option(name: .long, help: help(.maximumHead), transform: size) var maximumHead: Int?
  @Option(name: .long, help: help(.maximumHeadFields)) var maximumHeadFields: Int?
  @Option(name: .long, help: help(.maximumOperations)) var maximumOperations: Int?
  @Option(name: .long, help: help(.maximumWaiting)) var maximumWaiting: Int?
  @Option(name: .long, help: help(.maximumPerClient)) var maximumPerClient: Int?
  @Option(name: .long, help: help(.rate, "number/s|m|h"), transform: requestRate) var rate: RequestRate?
  @Option(name: .long, help: help(.rateBurst)) var rateBurst: Int?
  @Option(name: .long, help: help(.rateKey, "header")) var rateKey: String?
  @Option(name: .long, help: help(.maximumConnections)) var maximumConnections: Int?
  @Option(name: .long, help: help(.maximumBatch)) var maximumBatch: Int?
  @Option(name: .long, help: help(.maximumFiles)) var maximumFiles: Int?
  @Option(name: .long, help: help(.maximumFile), transform: size) var maximumFile: Int?
  @Option(name: .long, help: help(.maximumUpload), transform: size) var maximumUpload: Int?
  @Option(name: .long, help: help(.uploadTimeout), transform: time) var uploadTimeout: Duration?
  @Option(name: .long, help: help(.receiveTimeout), transform: time) var receiveTimeout: Duration?
  @Option(name: .long, help: help(.sendTimeout), transform: time) var sendTimeout: Duration?
  @Option(name: .long, help: help(.maximumUnsentPerConnection), transform: size) var maximumUnsentPerConnection: Int?
  @Option(name: .long, help: help(.maximumUnsent), transform: size) var maximumUnsent: Int?
  @Option(name: .long, help: help(.idleTimeout), transform: time) var idleTimeout: Duration?
  @Flag(name: .long, inversion: .prefixedNo, help: help(.webSocket)) var websocket: Bool?
  @Flag(name: .long, help: help(.legacyWebSocket)) var legacyWebsocket = false
  @Option(name: .long, help: help(.allowOrigin, "origin")) var allowOrigin: [String] = []
  @Option(name: .long, help: help(.maximumMessage), transform: size) var maximumMessage: Int?
  @Option(name: .long, help: help(.maximumFragments)) var maximumFragments: Int?
  @Option(name: .long, help: help(.maximumPerSocket)) var maximumPerSocket: Int?
  @Option(name: .long, help: help(.keepAlive), transform: time) var keepAlive: Duration?
  @Option(name: .long, help: help(.heartbeat), transform: time) var heartbeat: Duration?
  @Flag(name: .long, help: help(.http2)) var http2 = false
  @Option(name: .long, help: help(.maximumStreams)) var maximumStreams: Int?
  @Option(name: .long, help: help(.maximumResets)) var maximumResets: Int?
  @Flag(name: .long, help: help(.queryPage)) var queryPage = false

  func validate() throws {
    for (limit, value) in given {
      guard case .number(let number) = value else { continue }
      switch limit.kind {
      case .size(let range), .count(let range): try check(number, range, limit)
      default: break
      }
    }
    if rate == nil, rateBurst != nil || rateKey != nil { throw ValidationError("--rate-burst and --rate-key need --rate") }
    if let rateKey, !HTTPHeaders.Field(name: rateKey, value: "").isWellFormed {
      throw ValidationError("--rate-key takes the name of a header")
    }
    if legacyWebsocket, websocket == false {
      throw ValidationError("--legacy-websocket and --no-websocket contradict each other")
    }
    for origin in allowOrigin where origin != "*" && origin != "null" && !origin.contains("://") {
      throw ValidationError("--allow-origin takes an origin as https://example.org, or *, not \(origin.debugDescription)")
    }
  }

  private func check(_ value: Int, _ range: ClosedRange<Int>, _ limit: ServeLimit) throws {
    guard range.contains(value) else {
      throw ValidationError("--\(limit.rawValue) takes a number from \(range.lowerBound) to \(range.upperBound)")
    }
  }

  /// The limits that flags name.
  var given: [ServeLimit: LimitValue] {
    let values: [ServeLimit: LimitValue?] = [
      .maximumBody: maximumBody.map { .number($0) },
      .maximumHead: maximumHead.map { .number($0) },
      .maximumHeadFields: maximumHeadFields.map { .number($0) },
      .maximumOperations: maximumOperations.map { .number($0) },
      .maximumWaiting: maximumWaiting.map { .number($0) },
      .maximumPerClient: maximumPerClient.map { .number($0) },
      .rate: rate.map { .text($0.description) },
      .rateBurst: rateBurst.map { .number($0) },
      .rateKey: rateKey.map { .text($0) },
      .maximumConnections: maximumConnections.map { .number($0) },
      .maximumBatch: maximumBatch.map { .number($0) },
      .maximumFiles: maximumFiles.map { .number($0) },
      .maximumFile: maximumFile.map { .number($0) },
      .maximumUpload: maximumUpload.map { .number($0) },
      .uploadTimeout: uploadTimeout.map { .duration($0) },
      .receiveTimeout: receiveTimeout.map { .duration($0) },
      .sendTimeout: sendTimeout.map { .duration($0) },
      .maximumUnsentPerConnection: maximumUnsentPerConnection.map { .number($0) },
      .maximumUnsent: maximumUnsent.map { .number($0) },
      .idleTimeout: idleTimeout.map { .duration($0) },
      .webSocket: websocket.map { .truth($0) },
      .legacyWebSocket: legacyWebsocket ? .truth(true) : nil,
      .allowOrigin: allowOrigin.isEmpty ? nil : .texts(allowOrigin),
      .maximumMessage: maximumMessage.map { .number($0) },
      .maximumFragments: maximumFragments.map { .number($0) },
      .maximumPerSocket: maximumPerSocket.map { .number($0) },
      .keepAlive: keepAlive.map { .duration($0) },
      .heartbeat: heartbeat.map { .duration($0) },
      .http2: http2 ? .truth(true) : nil,
      .maximumStreams: maximumStreams.map { .number($0) },
      .maximumResets: maximumResets.map { .number($0) },
      .queryPage: queryPage ? .truth(true) : nil,
    ]
    return values.compactMapValues(\.self)
  }
}

/// The help of a flag, with the default of the limit.
private func help(_ limit: ServeLimit, _ valueName: String? = nil) -> ArgumentHelp {
  let value = limit.defaultValue.map { " (default: \($0.text(of: limit.kind)))" } ?? ""
  return ArgumentHelp("\(limit.summary)\(limit.kind == .truth || limit.kind == .origins ? "" : value)", valueName: valueName)
}

/// A size with its unit.
func size(_ text: String) throws -> Int {
  do throws(MalformedQuantity) {
    return try ByteSizeText.parse(text)
  } catch {
    throw ValidationError(error.description)
  }
}

private func requestRate(_ text: String) throws -> RequestRate {
  guard let rate = RequestRate(text) else {
    throw ValidationError("\(text.debugDescription) is not a rate; write a number and a unit, as in 100/s, 600/m or 5000/h")
  }
  return rate
}

private func time(_ text: String) throws -> Duration {
  let time = try duration(text)
  guard time > .zero else { throw ValidationError("the time must be longer than 0") }
  return time
}
