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
  /// The fields of the store that the data consists of, as `record.field`; nil if there is no data, or if no parser created the
  /// result.
  ///
  /// For a response they are computed at each read.
  public var dependentKeys: Set<CacheKey>? { keys.value }

  private let keys: DependentKeys
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
    keys = .known(dependentKeys)
    body = nil
  }

  /// The result in a response.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - source: Where it came from.
  ///   - records: Its records; nil if it has no data.
  ///   - policy: The keys of the records; nil for those of the default policy.
  /// - Throws: ``Carabiner/ResponseParsingError`` with code `dataMismatch` if the data does not fit its type.
  package init<Operation: GraphQLOperation>(
    _ response: GraphQLResponse<Operation>, source: Source, records: RecordSet?, policy: CacheKeyPolicy? = nil
  ) throws where Operation.Data == Data {
    data = try response.data
    errors = response.errors
    extensions = response.extensions
    self.source = source
    keys = records.map { .of($0, policy ?? .default) } ?? .known(nil)
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

/// The fields that a result depends on. Few callers read them, and a response has to be normalised for them.
private enum DependentKeys: Sendable {
  case known(Set<CacheKey>?)
  case of(RecordSet, CacheKeyPolicy)

  var value: Set<CacheKey>? {
    switch self {
    case .known(let keys): keys
    case .of(let records, let policy): records.fieldKeys(policy: policy)
    }
  }
}

/// Receives the results of an operation.
public typealias GraphQLResultHandler<Data> = (Result<GraphQLResult<Data>, any Error>) -> Void
