public import Carabiner
public import FoundationEssentials

/// A response on its way through a chain. Interceptors change it.
public class HTTPResponse<Operation: GraphQLOperation> {
  /// The head.
  public var httpResponse: HTTPURLResponse
  /// The body of one result: the whole body, or the JSON of one part.
  public var rawData: Data
  /// The result; nil before it is parsed.
  public var parsedResponse: GraphQLResult<Operation.Data>?
  /// The records of the result for the store; nil before it is parsed, and if it has no data.
  public var cacheRecords: RecordSet?

  /// The response of the server as the core has it; nil before it is parsed.
  public internal(set) var legacyResponse: GraphQLResponse<Operation>?

  /// A response with these parts.
  public init(response: HTTPURLResponse, rawData: Data, parsedResponse: GraphQLResult<Operation.Data>?) {
    httpResponse = response
    self.rawData = rawData
    self.parsedResponse = parsedResponse
  }
}
