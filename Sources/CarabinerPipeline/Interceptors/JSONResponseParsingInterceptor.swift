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

  /// The keys of the records; nil for those of the store.
  private let policy: CacheKeyPolicy?

  /// An interceptor.
  ///
  /// - Parameter cacheKeyForObject: Gives the objects of the responses their keys; nil for those of the store that the records are
  ///   written to. It gets an object under the names of the response. It may be called on any thread.
  public init(cacheKeyForObject: CacheKeyForObject? = nil) {
    policy = cacheKeyForObject.map { CacheKeyPolicy($0) }
  }

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let response else {
      return chain.handleErrorAsync(
        JSONResponseParsingError.noResponseToParse, request: request, response: response, completion: completion)
    }
    do {
      try response.parseRawData(for: request.operation, policy: policy, chain)
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
  ///   - chain: The chain of the request.
  /// - Throws: ``JSONResponseParsingInterceptor/JSONResponseParsingError``; ``Carabiner/ResponseParsingError`` if the object is not
  ///   a response to the operation.
  func parseRawData(for operation: Operation, policy: CacheKeyPolicy?, _ chain: any RequestChain) throws {
    let body = try JSONResponseParsingInterceptor.body(rawData)
    let parsed = GraphQLResponse<Operation>(body: body, source: .server, httpResponse: httpResponse)
    var records = Carabiner.ApolloStore.records(of: body, operation: operation)
    if let policy { records = records.map { RecordSet($0.list(policy: policy)) } }
    parsedResponse = try GraphQLResult(
      parsed, source: .server, records: records, policy: policy ?? chain.requestMemory?.policy)
    legacyResponse = parsed
    cacheRecords = records
  }
}

/// Another name for ``JSONResponseParsingInterceptor``, whose results of deferred parts are already merged.
public typealias IncrementalJSONResponseParsingInterceptor = JSONResponseParsingInterceptor
