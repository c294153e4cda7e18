public import Carabiner
public import FoundationEssentials

/// Parses the JSON of a response into a result and its records for the store.
open class LegacyParsingInterceptor: ApolloInterceptor {
  /// A response cannot be parsed.
  public enum LegacyParsingError: DescribedError, Sendable, Hashable {
    /// The interceptor comes before the network.
    case noResponseToParse
    /// The bytes are not a JSON object.
    case couldNotParseToLegacyJSON(data: Data)

    public var description: String {
      switch self {
      case .noResponseToParse: "there is no response to parse; put LegacyParsingInterceptor behind NetworkFetchInterceptor"
      case .couldNotParseToLegacyJSON(let data):
        JSONResponseParsingInterceptor.JSONResponseParsingError.couldNotParseToJSON(data: data).description
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

  open func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    func fail(_ error: any Error) {
      chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    guard let response else { return fail(LegacyParsingError.noResponseToParse) }
    do {
      try response.parseRawData(for: request.operation, policy: policy, chain)
    } catch JSONResponseParsingInterceptor.JSONResponseParsingError.couldNotParseToJSON(let data) {
      return fail(LegacyParsingError.couldNotParseToLegacyJSON(data: data))
    } catch {
      return fail(error)
    }
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}

extension CacheKeyPolicy {
  /// A policy by which a function gives all keys.
  init(_ key: @escaping CacheKeyForObject) {
    self.init(defaultKeyFields: [], objectKey: ObjectKeyFunction { key($0)?.cacheKey })
  }
}
