public import Carabiner

/// One result of an operation.
public struct GraphQLResult<Data> {
  /// Where a result came from.
  public enum Source: Sendable, Hashable {
    case cache
    case server
  }

  /// The data; nil if the response has none.
  public let data: Data?
  /// The errors of the response; nil if it has none.
  public let errors: [GraphQLError]?
  /// The member `extensions` of the response; nil if it has none.
  public let extensions: JSONObject?
  /// Where the result came from.
  public let source: Source
  /// The fields of the store that a result of the cache consists of, as `record.field`; nil for a result of the server.
  public let dependentKeys: Set<CacheKey>?
  /// The response that the result was made of; nil if an interceptor made the result.
  package let body: ResponseBody?

  /// A result with these parts.
  public init(
    data: Data?, extensions: JSONObject?, errors: [GraphQLError]?, source: Source, dependentKeys: Set<CacheKey>?
  ) {
    self.data = data
    self.extensions = extensions
    self.errors = errors
    self.source = source
    self.dependentKeys = dependentKeys
    body = nil
  }

  /// The result in a response.
  ///
  /// - Throws: ``Carabiner/ResponseParsingError`` with code `dataMismatch` if the data does not fit its type.
  package init<Operation: GraphQLOperation>(
    _ response: GraphQLResponse<Operation>, source: Source, dependentKeys: Set<CacheKey>? = nil
  ) throws where Operation.Data == Data {
    data = try response.data
    errors = response.errors
    extensions = response.extensions
    self.source = source
    self.dependentKeys = dependentKeys
    body = response.body
  }

  /// The response as JSON, as the server or the store has it; for a result that an interceptor made, errors and extensions.
  public func asJSONDictionary() -> JSONObject {
    if let body, let object = try? JSONValue(parsing: [UInt8](body.bytes)).object { return object }
    var object: JSONObject = [:]
    if let errors { object["errors"] = .array(errors.map { .object($0.object) }) }
    if let extensions { object["extensions"] = .object(extensions) }
    return object
  }
}

extension GraphQLResult: Sendable where Data: Sendable {}

/// Receives the results of an operation.
public typealias GraphQLResultHandler<Data> = (Result<GraphQLResult<Data>, any Error>) -> Void
