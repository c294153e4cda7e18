public import Carabiner
public import FoundationEssentials

/// Reports responses with a status other than 200 to 299, unless they reject the hash of a persisted query.
public struct ResponseCodeInterceptor: ApolloInterceptor {
  /// A response has the wrong status.
  public enum ResponseCodeError: DescribedError, Sendable {
    /// The head, and the whole body; nil if the interceptor comes before the network.
    case invalidResponseCode(response: HTTPURLResponse?, rawData: Data?)

    public var description: String {
      switch self {
      case .invalidResponseCode(let response?, let body):
        "\(PrintableURL(response.url)) answered with status \(response.statusCode): "
          + String(decoding: body?.prefix(200) ?? Data(), as: UTF8.self)
      case .invalidResponseCode: "there is no response yet; put ResponseCodeInterceptor behind NetworkFetchInterceptor"
      }
    }

    /// The body as one GraphQL error; nil if it is none.
    public var graphQLError: GraphQLError? {
      guard case .invalidResponseCode(_, let body?) = self, let object = try? JSONValue(parsing: [UInt8](body)).object,
        object["message"]?.string != nil
      else { return nil }
      return GraphQLError(object)
    }
  }

  /// Creates an interceptor.
  public init() {}

  public func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let response,
      response.httpResponse.isSuccessful || PersistedQueryRefusal(response.httpResponse, body: response.rawData) != nil
    else {
      let error = ResponseCodeError.invalidResponseCode(response: response?.httpResponse, rawData: response?.rawData)
      return chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}
