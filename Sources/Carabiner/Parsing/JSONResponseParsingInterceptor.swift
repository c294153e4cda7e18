internal import CarabinerWire
internal import FoundationEssentials

/// Parses a GraphQL response in JSON, whole or multipart.
///
/// A response with a media type of `multipart/` gives a result for each part with new data, as soon as the part has arrived. A
/// subscription's response with the media type `text/event-stream` gives a result for each event `next`. A response of any other media
/// type is parsed as one JSON text.
public struct JSONResponseParsingInterceptor: ResponseParsingInterceptor {
  public var stageName: String { "json" }

  /// A body with more bytes is passed on if no stage reads it; 64 KiB.
  package static let longestHeldBytes = 64 << 10

  /// The limits for each response.
  package let limits: ResponseLimits
  /// Whether long bodies are passed on while they arrive, because no stage reads them.
  private let passesBodies: Bool
  /// Whether the results of subscriptions are passed on, because no stage takes them.
  private let passesResults: Bool

  /// A parser with these limits.
  public init(limits: ResponseLimits = ResponseLimits()) {
    self.init(limits: limits, passesBodies: false, passesResults: false)
  }

  /// A parser of a chain of which it is known whether a stage reads bodies or takes results.
  package init(limits: ResponseLimits, passesBodies: Bool, passesResults: Bool) {
    self.limits = limits
    self.passesBodies = passesBodies
    self.passesResults = passesResults
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let head = response.response
    let isSubscription = request.operation.operationType == .subscription
    if let results = try streamedResults(of: response, isSubscription: isSubscription) {
      // A caller that takes them reads all but the first without the stages between.
      let passed = passesResults && isSubscription && !includeCacheRecords ? results : nil
      return PullStream {
        guard let next = try await results.next() else { return .end }
        var result = GraphQLResponse<Request.Operation>(next.body, httpResponse: head, passing: passed)
        result.delivery = next.delivery
        return .element(
          ParsedResult(
            result: result, cacheRecords: includeCacheRecords ? ApolloStore.records(of: next.body, to: request) : nil))
      }
    }
    if passesBodies, !includeCacheRecords, !isSubscription, let source = response.source { return passing(response, source) }
    let (limits, chunks) = (limits, response.chunks)
    return PullStream {
      let bytes = try await chunks.collected()
      let isTyped = Request.Operation.Data.self != JSONValue.self
      guard includeCacheRecords || isTyped else {
        let body = try ResponseBody(bytes, limits: limits)
        return .last(ParsedResult(result: GraphQLResponse(body: body, source: .server, httpResponse: head), cacheRecords: nil))
      }
      // Decoding and the cache reuse the places of the values.
      let (body, tape) = try ResponseBody.scanned(bytes, limits: limits)
      let result = GraphQLResponse<Request.Operation>(
        body: body, source: .server, httpResponse: head, tape: isTyped ? tape : nil)
      return .last(
        ParsedResult(
          result: result, cacheRecords: includeCacheRecords ? ApolloStore.records(of: body, to: request, tape: tape) : nil))
    }
  }

  /// The results of a response that arrives in parts or as events; nil if it is one JSON text.
  private func streamedResults(of response: HTTPResponse, isSubscription: Bool) throws -> StreamedResults? {
    let head = response.response
    let reader: any StreamedResultReader
    // The transport uses the same check: it does not limit a multipart body, so the body must not be collected.
    if head.isMultipart {
      let contentType = head.headers["Content-Type"]
      guard let type = MediaType(contentType ?? ""), type.isMultipart else {
        throw ResponseParsingError(
          .unsupportedContentType,
          "the Content-Type \((contentType ?? "").prefix(200).debugDescription) is malformed; correct the server")
      }
      let hasPayloads = type.parameter("subscriptionspec") != nil || isSubscription && type.parameter("deferspec") == nil
      reader =
        hasPayloads
        ? try SubscriptionResultReader(type, contentType: contentType, limits: limits)
        : try DeferredResultReader(type, contentType: contentType, limits: limits)
    } else if head.isEventStream, isSubscription {
      reader = EventResultReader(limits: limits)
    } else {
      return nil
    }
    return StreamedResults(response.chunks, reader, limits: limits)
  }

  /// The result of a response whose body is passed on if it is long.
  private func passing<Operation: GraphQLOperation>(
    _ response: HTTPResponse, _ source: any BodySource
  ) -> PullStream<ParsedResult<Operation>> {
    let (limits, head, chunks) = (limits, response.response, response.chunks)
    return PullStream {
      let (bytes, isWhole) = try await chunks.collected(until: Self.longestHeldBytes)
      let result: GraphQLResponse<Operation>
      if bytes.count > Self.longestHeldBytes, source.beginPassing() {
        let length = isWhole ? bytes.count : try source.declaredLength
        let body = try PassedBody(bytes, followedBy: isWhole ? nil : chunks, length: length, limits: limits)
        result = GraphQLResponse(passing: body, httpResponse: head)
      } else {
        let body = try await ResponseBody(isWhole ? bytes : chunks.collected(after: bytes), limits: limits)
        result = GraphQLResponse(body: body, source: .server, httpResponse: head)
      }
      return .last(ParsedResult(result: result, cacheRecords: nil))
    }
  }
}
