/// The step that converts the bytes of a response to results.
public protocol ResponseParsingInterceptor: ChainStage {
  /// Reads the chunks of a response and returns its results.
  ///
  /// - Throws: ``ResponseParsingError``, or an error of a plugin.
  ///
  /// - Parameters:
  ///   - response: The response, with its body.
  ///   - request: The request that was answered.
  ///   - includeCacheRecords: Whether the results need records for the cache.
  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request>

  /// The media types that are added to the `Accept` header of requests; nil for none.
  ///
  /// A request whose ``GraphQLRequest/additionalHeaders`` set `Accept` keeps its value.
  var acceptedMediaTypes: AcceptedMediaTypes? { get }
}

extension ResponseParsingInterceptor {
  public var acceptedMediaTypes: AcceptedMediaTypes? { nil }
}
