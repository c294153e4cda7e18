internal import Carabiner
internal import CarabinerManifest
internal import CarabinerWire
internal import FoundationEssentials
internal import JSONReference

/// The checks for arbitrary bytes: no reader crashes or hangs, and accepted input can be written and read again.
///
/// For each case, the folder of its name under `Tests/Fixtures/Corpus` contains seeds and all inputs that once broke the reader.
/// A new reader needs a case here and such a folder: `Scripts/scenario fuzz` and the replay of the corpora use them.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// The JSON scanner and the functions built on it.
  case json
  /// Parser and printer of GraphQL documents.
  case document
  /// The reader of manifests, as YAML and as JSON.
  case manifest
  /// The reader of multipart bodies and the merging of deferred parts.
  case multipart
  /// Messages of servers over WebSocket, in both protocols.
  case websocket
  /// Envelopes of Connect and gRPC-Web streams.
  case connectEnvelope = "connect-envelope"
  /// Errors and ends of streams of Connect, and the texts in them.
  case connectError = "connect-error"
  /// Blocks of trailers of gRPC-Web.
  case grpcWebTrailers = "grpc-web-trailers"
  /// Requests of HTTP/1.1.
  case http1Request = "http1-request"
  /// Responses of HTTP/1.1.
  case http1Response = "http1-response"
  /// Events of a stream of server-sent events.
  case events
  /// The header of the PROXY protocol.
  case proxyHeader = "proxy-header"
  /// The messages of a worker: its answers, requests and states.
  case workerAnswer = "worker-answer"
  /// Signed statements, and the files that decide which are accepted.
  case release
  /// Answers of Redis, in RESP2 and RESP3.
  case redisReply = "redis-reply"

  /// Checks an input.
  ///
  /// - Throws: ``FuzzFinding`` if a property does not hold.
  package func check(_ bytes: [UInt8]) throws {
    switch self {
    case .json: try checkJSON(bytes)
    case .document: try checkDocument(bytes)
    case .manifest: try checkManifest(bytes)
    case .multipart: try checkMultipart(bytes)
    case .websocket:
      try checkServerMessage(bytes)
      try checkClientMessage(bytes)
    case .connectEnvelope: try checkEnvelopes(bytes)
    case .connectError: try checkConnectError(bytes)
    case .grpcWebTrailers: try checkTrailers(bytes)
    case .http1Request: try checkRequest(bytes)
    case .http1Response: try checkResponse(bytes)
    case .events: try checkEvents(bytes)
    case .proxyHeader: try checkProxyHeader(bytes)
    case .workerAnswer: try checkWorker(bytes)
    case .release: try checkRelease(bytes)
    case .redisReply: try checkReplies(bytes)
    }
  }

  // MARK: JSON

  private func checkJSON(_ bytes: [UInt8]) throws {
    for scan in BlockScan.allCases {
      let difference = unsafe bytes.withUnsafeBufferPointer { unsafe scan.difference(of: $0) }
      try require(difference == nil, "\(scan): \(difference ?? "")")
    }
    let tree: JSONTree
    do {
      tree = try JSONTree(parsing: bytes.span)
    } catch {
      try require(error.offset <= bytes.count, "the fault lies beyond the text")
      try require((try? JSONMembers(locating: bytes.span)) == nil, "members are found in invalid JSON")
      return
    }
    for sorted in [false, true] {
      let again = try? JSONValue(parsing: tree.value.serialized(sortedKeys: sorted, pretty: sorted))
      try require(again == tree.value, "the written text is read as a different value")
    }
    let tape = try JSONTape(scanning: bytes.span)
    try require(tape.value(at: 0, in: bytes.span) == tree.value, "tree and tape do not agree")
    let members = try JSONMembers(locating: bytes.span)
    try require(members.isObject == (tree.value.object != nil), "tree and members do not agree")
    for name in members.names {
      let part = try members.range(of: name).map { try JSONValue(parsing: Array(bytes[$0])) }
      try require(part != nil && part == tree.value[name], "the member \(name) is not where it is said to be")
    }
    if let body = try? ResponseBody(Data(bytes)) {
      try require(body.hasData == (tree.value["data"].map { !$0.isNull } ?? false), "data is seen differently")
    }
  }

  // MARK: Documents

  private func checkDocument(_ bytes: [UInt8]) throws {
    let document: GraphQLDocument
    do {
      document = try GraphQLDocument(parsing: bytes.span)
    } catch {
      try require(error.line >= 1 && error.column >= 1, "the fault has no place")
      return
    }
    let printed = document.description
    let again: GraphQLDocument
    do {
      again = try GraphQLDocument(parsing: printed)
    } catch {
      throw FuzzFinding("the printed document cannot be read: \(error): \(printed)")
    }
    try require(again == document, "the printed text is read as a different document: \(printed)")
    try require(again.description == printed, "printing twice gives two texts")
  }

  // MARK: Manifests

  private func checkManifest(_ bytes: [UInt8]) throws {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    for format in [Manifest.Format.yaml, .json] {
      do {
        let manifest = try Manifest(text: text, format: format, directory: "/nowhere")
        _ = manifest.stagePlan(operationName: "Operation", type: .query)
      } catch let error as ManifestError {
        try require(!error.problems.isEmpty, "refused without a reason")
        for problem in error.problems { try require(!problem.message.isEmpty, "a problem without words") }
      }
    }
    guard let value = (try? ManifestDocument(text))?.value else { return }
    let again = (try? ManifestDocument(value.description))?.value
    try require(again == value, "the JSON of a manifest is read as something else: \(value)")
  }

  // MARK: Multipart

  /// The boundary in every input.
  static let boundary = "-"

  private func checkMultipart(_ bytes: [UInt8]) throws {
    let boundary = try MultipartBoundary(Self.boundary)
    for partEnd in MultipartReader.PartEnd.allCases {
      let whole = Self.read(bytes, boundary, partEnd, chunk: bytes.count)
      for chunk in [1, 2, 7] {
        try require(
          Self.read(bytes, boundary, partEnd, chunk: chunk) == whole, "chunks of \(chunk) bytes are read as something else")
      }
      for part in whole.parts {
        let total = part.body.count + part.headers.reduce(0) { $0 + $1.name.utf8.count }
        try require(total <= bytes.count, "a part is longer than what it came in")
      }
      try checkMerging(whole.parts)
    }
    try checkPieces(bytes, boundary)
  }

  private struct Reading: Equatable {
    var parts: [MultipartPart] = []
    var error: MultipartError?
  }

  private static func read(
    _ bytes: [UInt8], _ boundary: MultipartBoundary, _ partEnd: MultipartReader.PartEnd, chunk: Int
  ) -> Reading {
    // Small limits, so that inputs can exceed them.
    let limits = MultipartLimits(maximumPartBytes: 2000, maximumHeaderBytes: 200)
    var reader = MultipartReader(boundary: boundary, partEnd: partEnd, limits: limits)
    var reading = Reading()
    do throws(MultipartError) {
      var place = 0
      while place < bytes.count {
        let end = min(place + max(chunk, 1), bytes.count)
        reader.append(bytes[place..<end])
        while let part = try reader.next() { reading.parts.append(part) }
        place = end
      }
      reader.finish()
      while let part = try reader.next() { reading.parts.append(part) }
    } catch {
      reading.error = error
    }
    return reading
  }

  private func checkMerging(_ parts: [MultipartPart]) throws {
    var merged = IncrementalResponse()
    for part in parts {
      do {
        guard let update = try merged.merge(part.body) else { continue }
        let text = update.response.text
        try require((try? JSONValue(parsing: Array(text))) != nil, "merged parts are not valid JSON")
        try require(update.hasNext == merged.hasNext, "the parts disagree about their end")
      } catch is JSONError {
        return
      } catch is IncrementalError {
        return
      }
    }
  }

  // MARK: WebSocket

  private func checkServerMessage(_ bytes: [UInt8]) throws {
    let value = try? JSONValue(parsing: bytes)
    for dialect in WebSocketProtocol.allCases {
      let message: ServerMessage
      do {
        message = try ServerMessage(reading: bytes.span, dialect)
      } catch {
        try require(!error.description.isEmpty, "a fault without words")
        continue
      }
      let payload = message.payload.flatMap { try? JSONValue(parsing: Array(bytes[$0])) }
      try require(value?["type"]?.string != nil, "a message without a type is taken")
      try require(payload == value?["payload"], "the payload is not where it is said to be")
      try require(message.id == value?["id"]?.string, "the id is another")
      switch message.kind {
      case .next: try require(message.id != nil && payload?.object != nil, "a result without id or payload is taken")
      case .errors: try require(message.id != nil && payload != nil, "errors without id or payload are taken")
      case .complete: try require(message.id != nil, "the end of no operation is taken")
      case .acknowledged, .refused, .ping, .pong: break
      }
    }
  }

  /// A message of a client that is read and written again is unchanged.
  private func checkClientMessage(_ bytes: [UInt8]) throws {
    let message: ClientMessage
    do {
      message = try ClientMessage(reading: bytes.span)
    } catch {
      return try require(!error.description.isEmpty, "a fault without words")
    }
    guard let text = message.text(.graphQLTransportWS) else { throw FuzzFinding("a message of another protocol is taken") }
    try require((try? ClientMessage(reading: text.span)) == message, "a message changes when it is written")
  }

  func require(_ holds: Bool, _ finding: @autoclosure () -> String) throws {
    if !holds { throw FuzzFinding(finding()) }
  }
}

/// A property that does not hold for some input.
package struct FuzzFinding: Error, Sendable, CustomStringConvertible {
  /// A description of the finding.
  package let description: String

  init(_ description: String) { self.description = description }
}
