internal import CarabinerWire
internal import FoundationEssentials

/// Reads the parts of a multipart response, which must be JSON.
private struct JSONPartReader: Sendable {
  private var reader: MultipartReader
  private let contentType: String?
  /// The headers of the part before, whose media type was accepted. Most parts have the same.
  private var acceptedHeaders: [MultipartPart.Header] = []

  /// - Throws: ``ResponseParsingError`` if the content type has no valid boundary.
  init(_ type: MediaType, contentType: String?, limits: ResponseLimits) throws {
    self.contentType = contentType
    do throws(MultipartError) {
      // JSON cannot contain a line with the boundary.
      reader = MultipartReader(
        boundary: try MultipartBoundary(contentType: type), partEnd: .atBoundary, limits: limits.multipart)
    } catch {
      throw ResponseParsingError(error, contentType: contentType)
    }
  }

  /// Whether the last part was read.
  var isClosed: Bool { reader.isClosed }

  mutating func append(_ chunk: Data) { reader.append(chunk) }

  mutating func finish() { reader.finish() }

  /// The body of the next part; nil if there is none yet.
  mutating func next() throws -> [UInt8]? {
    guard let part = try nextPart() else { return nil }
    if part.headers != acceptedHeaders {
      if let type = part.header("content-type"), MediaType(type)?.isJSON != true {
        throw ResponseParsingError(
          .unsupportedContentType, "a part of the response has the type \(type); the server must send application/json")
      }
      acceptedHeaders = part.headers
    }
    return part.body
  }

  private mutating func nextPart() throws -> MultipartPart? {
    do throws(MultipartError) {
      return try reader.next()
    } catch {
      throw ResponseParsingError(error, contentType: contentType)
    }
  }
}

/// Reads the results of a subscription from a multipart response. Each part is a complete response, or a heartbeat.
struct SubscriptionResultReader: StreamedResultReader {
  private let limits: ResponseLimits
  /// The limits of a payload, which is one level below the part.
  private let payloadLimits: ResponseLimits
  private var parts: JSONPartReader
  /// The error that ends the subscription after the result of the same part.
  private var failure: SubscriptionError?

  /// - Throws: ``ResponseParsingError`` if the content type has no valid boundary.
  init(_ type: MediaType, contentType: String?, limits: ResponseLimits) throws {
    self.limits = limits
    var payloadLimits = limits
    payloadLimits.maximumDepth -= 1
    self.payloadLimits = payloadLimits
    parts = try JSONPartReader(type, contentType: contentType, limits: limits)
  }

  mutating func append(_ chunk: Data) { parts.append(chunk) }

  mutating func finish() { parts.finish() }

  mutating func next() throws -> StreamedStep {
    if let failure { throw failure }
    while let part = try parts.next() {
      if let result = try result(of: part) { return .result(result) }
    }
    return parts.isClosed ? .end : .needsBytes
  }

  /// The response in a part; nil for a heartbeat, which has no payload and no errors.
  private mutating func result(of part: [UInt8]) throws -> StreamedResult? {
    if let body = onlyPayload(of: part) { return StreamedResult(body: body, delivery: .subscription) }
    let members: JSONMembers
    do {
      members = try JSONMembers(locating: part.span, limits: limits.json)
    } catch {
      throw ResponseParsingError.invalidJSON(error, body: Data(part))
    }
    let payload = members.range(of: "payload").map { Data(part[$0]) } ?? (members.range(of: "data") == nil ? nil : Data(part))
    if members.range(of: "payload") != nil || payload == nil, let errors = members.range(of: "errors") {
      let value = try JSONValue(parsing: Array(part[errors]), limits: limits.json)
      guard let entries = value.isNull ? [] : value.array else {
        throw ResponseParsingError.notAGraphQLResponse(body: Data(part))
      }
      if !entries.isEmpty {
        failure = SubscriptionError(errors: entries.map { GraphQLError($0.object ?? ["message": $0]) })
      }
    }
    guard let payload, payload != ResponseBody.null else {
      if let failure { throw failure }
      guard members.isObject else { throw ResponseParsingError.notAGraphQLResponse(body: Data(part)) }
      return nil
    }
    return StreamedResult(
      body: try ResponseBody(payload, limits: limits),
      delivery: failure == nil ? .subscription : ResultDelivery(hasNext: false))
  }

  private static let payloadOpening = Array("{\"payload\":".utf8)

  /// The response in a part that is the object of a payload, without white space, as most parts are; nil if it is another part.
  ///
  /// If the payload is a JSON text, so is the part. So the payload is scanned once.
  private func onlyPayload(of part: [UInt8]) -> ResponseBody? {
    let opening = Self.payloadOpening
    guard part.starts(with: opening), part.last == UInt8(ascii: "}") else { return nil }
    let payload = part[opening.count...].dropLast()
    // The body of a response begins with its object.
    guard payload.first == UInt8(ascii: "{"), payload.last == UInt8(ascii: "}") else { return nil }
    return try? ResponseBody(Data(payload), limits: payloadLimits)
  }
}

/// Reads the results of a deferred response. Each part adds to the response.
struct DeferredResultReader: StreamedResultReader {
  private var parts: JSONPartReader
  private var merged: IncrementalResponse

  /// - Throws: ``ResponseParsingError`` if the content type has no valid boundary.
  init(_ type: MediaType, contentType: String?, limits: ResponseLimits) throws {
    parts = try JSONPartReader(type, contentType: contentType, limits: limits)
    merged = limits.incrementalResponse
  }

  mutating func append(_ chunk: Data) { parts.append(chunk) }

  mutating func finish() { parts.finish() }

  mutating func next() throws -> StreamedStep {
    while let part = try parts.next() {
      if let update = try update(by: part) {
        return .result(StreamedResult(body: ResponseBody(update.response), delivery: ResultDelivery(update)))
      }
    }
    guard parts.isClosed else { return .needsBytes }
    do throws(IncrementalError) {
      try merged.finish()
    } catch {
      throw ResponseParsingError(error)
    }
    return .end
  }

  private mutating func update(by part: [UInt8]) throws -> IncrementalUpdate? {
    do {
      return try merged.merge(part)
    } catch let error as JSONError {
      throw ResponseParsingError.invalidJSON(error, body: Data(part))
    } catch let error as IncrementalError {
      throw ResponseParsingError(error)
    }
  }
}
