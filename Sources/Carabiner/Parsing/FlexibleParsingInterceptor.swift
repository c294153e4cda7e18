internal import CarabinerWire
internal import FoundationEssentials

/// Parses a GraphQL response in any format that a decoder supports, for example a property list.
///
/// The decoder reads the members `data`, `errors` and `extensions` as JSON values. The typed data is decoded from these values, so
/// date and key strategies of the decoder do not apply to it. Parts of a multipart response and events are JSON.
public struct FlexibleParsingInterceptor<Decoder: FlexibleDecoder & Sendable>: ResponseParsingInterceptor {
  public var stageName: String { "flexible" }
  public let acceptedMediaTypes: AcceptedMediaTypes?

  private let decoder: Decoder
  private let limits: ResponseLimits

  /// A parser over a decoder.
  ///
  /// - Parameters:
  ///   - decoder: Decodes the body.
  ///   - acceptedMediaTypes: The media types for the `Accept` header; nil for none.
  ///   - limits: The limits for the response.
  public init(decoder: Decoder, acceptedMediaTypes: AcceptedMediaTypes? = nil, limits: ResponseLimits = ResponseLimits()) {
    self.decoder = decoder
    self.acceptedMediaTypes = acceptedMediaTypes
    self.limits = limits
  }

  public func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let head = response.response
    if head.isMultipart || head.isEventStream && request.operation.operationType == .subscription {
      return try await JSONResponseParsingInterceptor(limits: limits).parse(
        response: response, for: request, includeCacheRecords: includeCacheRecords)
    }
    let (decoder, limits, chunks) = (decoder, limits, response.chunks)
    return PullStream {
      let value = try decoder.decode(JSONValue.self, from: try await chunks.collected())
      let body = try ResponseBody(Data(value.serialized()), limits: limits)
      let result = GraphQLResponse<Request.Operation>(body: body, source: .server, httpResponse: head)
      return .last(
        ParsedResult(result: result, cacheRecords: includeCacheRecords ? ApolloStore.records(of: body, to: request) : nil))
    }
  }
}
