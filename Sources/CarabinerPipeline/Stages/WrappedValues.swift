internal import Carabiner
internal import FoundationEssentials

// The values of this generation and those of the core, each made of the other.

extension HTTPResponse {
  /// The response that a result of the core belongs to.
  ///
  /// - Throws: ``Carabiner/ResponseParsingError`` if the data does not fit its type.
  convenience init(_ result: ParsedResult<Operation>, to request: some GraphQLRequest<Operation>) throws {
    let source: GraphQLResult<Operation.Data>.Source = result.result.source == .cache ? .cache : .server
    self.init(
      response: result.result.httpResponse ?? HTTPURLResponse(url: request.graphQLEndpoint, statusCode: 200),
      rawData: result.result.body.bytes,
      parsedResponse: try GraphQLResult(result.result, source: source, records: result.cacheRecords))
    cacheRecords = result.cacheRecords
  }
}

extension ParsedResult {
  /// The result in a response.
  ///
  /// - Throws: ``Carabiner/RequestChainError`` if there is none.
  init(_ response: HTTPResponse<Operation>) throws {
    guard let value = response.parsedResponse else {
      throw RequestChainError(.noResults, "a wrapped interceptor proceeded with a response that is not parsed")
    }
    var result: GraphQLResponse<Operation> = try value.response()
    result.httpResponse = response.httpResponse
    self.init(result: result, cacheRecords: response.cacheRecords)
  }
}

extension GraphQLResult {
  /// This result for the core: the response it was made of, or else its parts as JSON.
  ///
  /// - Throws: ``Carabiner/RequestChainError`` if an interceptor made a value that cannot be encoded.
  func response<Operation: GraphQLOperation>() throws -> GraphQLResponse<Operation> where Operation.Data == Data {
    if let body { return GraphQLResponse(body: body, source: source == .cache ? .cache : .server) }
    var object = asJSONDictionary()
    if let json = data as? JSONValue {
      object["data"] = json
    } else if let data {
      guard let encodable = data as? any Encodable else {
        throw RequestChainError(
          .noResults, "an interceptor made a value of \(Data.self), which is not Encodable; the chain of the core needs its JSON")
      }
      object["data"] = try JSONValue(withNullsOf: encodable)
    } else if errors == nil {
      object["data"] = .null
    }
    return try GraphQLResponse(json: .object(object), source: .interceptor)
  }
}

extension HTTPHeaders {
  /// These fields with the changes between two dictionaries.
  func changed(from before: [String: String], to after: [String: String]) -> HTTPHeaders {
    var headers = self
    for name in before.keys where after[name] == nil { headers.remove(name) }
    for (name, value) in after.sorted(by: { $0.key < $1.key }) where before[name] != value { headers[name] = value }
    return headers
  }
}
