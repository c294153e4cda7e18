public import Carabiner
public import FoundationEssentials

/// Parses the JSON of a response into a result and its records for the store.
public struct JSONResponseParsingInterceptor: ApolloInterceptor {
  /// A response cannot be parsed.
  public enum JSONResponseParsingError: DescribedError, Sendable, Hashable {
    /// The interceptor comes before the network.
    case noResponseToParse
    /// The bytes are not a JSON object.
    case couldNotParseToJSON(data: Data)

    public var description: String {
      switch self {
      case .noResponseToParse: "there is no response to parse; put JSONResponseParsingInterceptor behind NetworkFetchInterceptor"
      case .couldNotParseToJSON(let data):
        data.isEmpty
          ? "the response has no body; is the endpoint a GraphQL server?"
          : "the response is not a JSON object; is the endpoint a GraphQL server? It begins with "
            + String(decoding: data.prefix(200), as: UTF8.self).debugDescription
      }
    }
  }

  /// An interceptor.
  ///
  /// - Parameter cacheKeyForObject: Ignored. The store uses its own ``ApolloStore/cacheKeyForObject`` when it takes the records over.
  public init(cacheKeyForObject: CacheKeyForObject? = nil) {}

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let response else {
      return chain.handleErrorAsync(
        JSONResponseParsingError.noResponseToParse, request: request, response: response, completion: completion)
    }
    do {
      try response.parse(for: request.operation)
    } catch {
      return chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    chain.proceedAsync(request: request, response: response, completion: completion)
  }

  /// The members of a response.
  ///
  /// - Throws: ``JSONResponseParsingError``; ``Carabiner/ResponseParsingError`` if the object is not a GraphQL response.
  fileprivate static func body(_ data: Data) throws -> ResponseBody {
    guard data.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else {
      throw JSONResponseParsingError.couldNotParseToJSON(data: data)
    }
    do {
      return try ResponseBody(data)
    } catch let error as ResponseParsingError where error.code == .invalidJSON {
      throw JSONResponseParsingError.couldNotParseToJSON(data: data)
    }
  }
}

extension HTTPResponse {
  /// Parses the raw data.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - policy: The keys of the records; nil for those of the store that they are written to.
  /// - Throws: ``JSONResponseParsingInterceptor/JSONResponseParsingError``; ``Carabiner/ResponseParsingError`` if the object is not
  ///   a response to the operation.
  func parse(for operation: Operation, policy: CacheKeyPolicy? = nil) throws {
    let body = try JSONResponseParsingInterceptor.body(rawData)
    let parsed = GraphQLResponse<Operation>(body: body, source: .server, httpResponse: httpResponse)
    var records = Carabiner.ApolloStore.records(of: body, operation: operation)
    var keys: Set<CacheKey>?
    if let policy, let list = records?.list(policy: policy) {
      records = RecordSet(list)
      keys = list.fieldKeys
    }
    parsedResponse = try GraphQLResult(parsed, source: .server, dependentKeys: keys)
    legacyResponse = parsed
    cacheRecords = records
  }
}

/// Another name for ``JSONResponseParsingInterceptor``, whose results of deferred parts are already merged.
public typealias IncrementalJSONResponseParsingInterceptor = JSONResponseParsingInterceptor
