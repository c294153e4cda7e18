internal import CarabinerWire
internal import FoundationEssentials

/// Parses a GraphQL response in JSON, whole or multipart.
///
/// A response with a media type of `multipart/` gives a result for each part with new data, as soon as the part has arrived. A
/// subscription's response with the media type `text/event-stream` gives a result for each event `next`. A response of any other media
/// type is parsed as one JSON text.
public struct JSONResponseParsingInterceptor: ResponseParsingInterceptor {
  public var stageName: String { "json" }

  /// The limits for each response.
  package let limits: ResponseLimits

  /// A parser with these limits.
  public init(limits: ResponseLimits = ResponseLimits()) {
    self.limits = limits
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let head = response.response
    // The transport uses the same check: it does not limit a multipart body, so the body must not be collected.
    if head.isMultipart {
      let contentType = head.headers["Content-Type"] ?? ""
      guard let type = MediaType(contentType), type.isMultipart else {
        throw ResponseParsingError(
          .unsupportedContentType,
          "the Content-Type \(contentType.prefix(200).debugDescription) is malformed; correct the server")
      }
      let results = try MultipartResults(
        response, type, request: request, includesRecords: includeCacheRecords, limits: limits)
      return PullStream { try await results.next() }
    }
    if head.isEventStream, request.operation.operationType == .subscription {
      let results = EventResults(response, request: request, includesRecords: includeCacheRecords, limits: limits)
      return PullStream { try await results.next() }
    }
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
}
