internal import CarabinerWire
internal import FoundationEssentials

/// Reads the results of a multipart response, each as soon as its part has arrived.
final class MultipartResults<Request: GraphQLRequest>: @unchecked Sendable {
  // Each stream of the chain has one consumer at a time.

  typealias Result = ParsedResult<Request.Operation>
  typealias Step = PullStream<Result>.Step

  /// The way in which parts become results.
  private enum Format {
    /// Each part adds to one response.
    case incremental(IncrementalResponse)
    /// Each part is a complete response, or a heartbeat.
    case subscription
  }

  private let response: HTTPResponse
  private let request: Request
  private let includesRecords: Bool
  private let limits: ResponseLimits
  private var reader: MultipartReader
  private var format: Format
  /// The error that ends the subscription after the result of the same part.
  private var failure: SubscriptionError?
  private var areChunksOver = false

  /// - Throws: ``ResponseParsingError`` if the content type has no valid boundary.
  init(_ response: HTTPResponse, _ contentType: MediaType, request: Request, includesRecords: Bool, limits: ResponseLimits) throws
  {
    do throws(MultipartError) {
      // JSON cannot contain a line with the boundary.
      reader = MultipartReader(
        boundary: try MultipartBoundary(contentType: contentType), partEnd: .atBoundary, limits: limits.multipart)
    } catch {
      throw ResponseParsingError(error, contentType: response.response.headers["Content-Type"])
    }
    self.response = response
    self.request = request
    self.includesRecords = includesRecords
    self.limits = limits
    let isSubscription =
      contentType.parameter("subscriptionspec") != nil
      || request.operation.operationType == .subscription && contentType.parameter("deferspec") == nil
    format = isSubscription ? .subscription : .incremental(limits.incrementalResponse)
  }

  /// The next result. Fails if it does not arrive within the idle timeout.
  func next() async throws -> Step {
    guard let idleTimeout = limits.idleTimeout else { return try await advance() }
    return try await Deadline(after: idleTimeout).bounding(RequestChainError.idle(idleTimeout)) { try await self.advance() }
  }

  private func advance() async throws -> Step {
    while true {
      if let failure { throw failure }
      if let part = try nextPart() {
        if let result = try result(of: part) { return .element(result) }
      } else if reader.isClosed {
        try finish()
        await response.drain(areChunksOver: areChunksOver, limits)
        areChunksOver = true
        return .end
      } else {
        try await pullChunk()
      }
    }
  }

  private func nextPart() throws -> MultipartPart? {
    do throws(MultipartError) {
      return try reader.next()
    } catch {
      throw ResponseParsingError(error, contentType: response.response.headers["Content-Type"])
    }
  }

  private func pullChunk() async throws {
    switch try await response.chunks.pull() {
    case .element(let chunk): reader.append(chunk)
    case .last(let chunk):
      areChunksOver = true
      reader.append(chunk)
      reader.finish()
    case .end:
      areChunksOver = true
      reader.finish()
    }
  }

  // MARK: The end

  private func finish() throws {
    guard case .incremental(let merged) = format else { return }
    do throws(IncrementalError) {
      try merged.finish()
    } catch {
      throw ResponseParsingError(error)
    }
  }

  // MARK: Parts

  private func result(of part: MultipartPart) throws -> Result? {
    if let type = part.header("content-type"), MediaType(type)?.isJSON != true {
      throw ResponseParsingError(
        .unsupportedContentType, "a part of the response has the type \(type); the server must send application/json")
    }
    switch format {
    case .subscription: return try payload(of: part.body)
    case .incremental(var merged):
      // Removed from its variable while it changes: a second reference would make every change a copy.
      format = .subscription
      defer { format = .incremental(merged) }
      return try update(&merged, part.body)
    }
  }

  private func update(_ merged: inout IncrementalResponse, _ part: [UInt8]) throws -> Result? {
    do {
      guard let update = try merged.merge(part) else { return nil }
      return result(ResponseBody(update.response), ResultDelivery(update))
    } catch let error as JSONError {
      throw ResponseParsingError.invalidJSON(error, body: Data(part))
    } catch let error as IncrementalError {
      throw ResponseParsingError(error)
    }
  }

  /// The response in a part of a subscription; nil for a heartbeat, which has no payload and no errors.
  private func payload(of part: [UInt8]) throws -> Result? {
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
    return result(try ResponseBody(payload, limits: limits), ResultDelivery(hasNext: failure == nil))
  }

  private func result(_ body: ResponseBody, _ delivery: ResultDelivery) -> Result {
    var result = GraphQLResponse<Request.Operation>(body: body, source: .server, httpResponse: response.response)
    result.delivery = delivery
    return Result(
      result: result, cacheRecords: includesRecords ? ApolloStore.records(of: body, to: request) : nil)
  }
}
