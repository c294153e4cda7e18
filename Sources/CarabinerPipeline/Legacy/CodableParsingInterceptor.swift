public import Carabiner
internal import FoundationEssentials

/// Decodes responses with a decoder: `data` as the type of the operation, `errors` and `extensions` as JSON values.
///
/// It makes no records for the store.
open class CodableParsingInterceptor<FlexDecoder: FlexibleDecoder>: ApolloInterceptor {
  /// A response cannot be decoded.
  public enum CodableParsingError: DescribedError, Sendable, Hashable {
    /// The interceptor comes before the network.
    case noResponseToParse

    public var description: String {
      "there is no response to parse; put CodableParsingInterceptor behind NetworkFetchInterceptor"
    }
  }

  private let decoder: FlexDecoder

  /// An interceptor that uses `decoder`.
  public init(decoder: FlexDecoder) { self.decoder = decoder }

  open func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard let response else {
      return chain.handleErrorAsync(
        CodableParsingError.noResponseToParse, request: request, response: response, completion: completion)
    }
    do {
      let decoded = try CodableResponse<Operation.Data>(from: response.rawData, decoder: decoder)
      response.parsedResponse = try decoded.result()
    } catch {
      return chain.handleErrorAsync(error, request: request, response: response, completion: completion)
    }
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}

/// The members of a response in the format of a decoder.
struct CodableResponse<Value: Decodable>: Decodable, Parseable {
  private enum Member: CodingKey {
    case data
    case errors
    case extensions
  }

  private let data: Value?
  private let errors: [JSONValue]?
  private let extensions: JSONValue?
  private let hasData: Bool

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    hasData = members.contains(.data)
    data = try members.decodeIfPresent(Value.self, forKey: .data)
    errors = try members.decodeIfPresent([JSONValue].self, forKey: .errors)
    extensions = try members.decodeIfPresent(JSONValue.self, forKey: .extensions)
  }

  /// The result.
  ///
  /// - Throws: ``Carabiner/ResponseParsingError`` if there is neither data nor an error.
  func result() throws -> GraphQLResult<Value> {
    guard hasData || errors != nil else {
      throw ResponseParsingError(
        .notAGraphQLResponse, "the response has neither data nor errors; is the endpoint a GraphQL server?")
    }
    return GraphQLResult(
      data: data, extensions: extensions?.object, errors: errors?.map { GraphQLError($0.object ?? ["message": $0]) },
      source: .server, dependentKeys: nil)
  }
}
