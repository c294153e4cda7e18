internal import CarabinerWire
internal import FoundationEssentials

/// Reads a GraphQL response in JSON, whole or in parts.
///
/// A response whose media type is `multipart/...` brings a result for each part that says something new, as soon as the part is
/// there. Any other is read as one JSON text, whatever its media type.
public struct JSONResponseParsingInterceptor: ResponseParsingInterceptor {
  public var stageName: String { "json" }

  private let limits: ResponseLimits

  /// A parser with these limits.
  public init(limits: ResponseLimits = ResponseLimits()) {
    self.limits = limits
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  public func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let head = response.response
    // The same question as the transport asks: it does not limit such a body, so it is never read as a whole.
    if head.isMultipart {
      let contentType = head.headers["Content-Type"] ?? ""
      guard let type = MediaType(contentType), type.isMultipart else {
        throw ResponseParsingError(
          .unsupportedContentType,
          "the Content-Type \(contentType.prefix(200).debugDescription) cannot be read; correct the server")
      }
      let results = try MultipartResults(
        response, type, request: request, includesRecords: includeCacheRecords, limits: limits)
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
      // Whoever decodes the data or keeps it as records would look for its values again.
      let (body, tape) = try ResponseBody.scanned(bytes, limits: limits)
      let result = GraphQLResponse<Request.Operation>(
        body: body, source: .server, httpResponse: head, tape: isTyped ? tape : nil)
      return .last(
        ParsedResult(
          result: result, cacheRecords: includeCacheRecords ? ApolloStore.records(of: body, to: request, tape: tape) : nil))
    }
  }
}
