internal import CarabinerWire
internal import FoundationEssentials

/// What the cache stage reads from and writes to.
///
/// A response is one record of the query root, under a key made of the operation's document, name and variables.
public final class ApolloStore: Sendable {
  /// Where the records are kept.
  public let cache: any NormalizedCache

  /// A store over `cache`.
  public init(cache: any NormalizedCache = InMemoryNormalizedCache()) {
    self.cache = cache
  }

  /// The stored response of an operation, or nil if there is none.
  public func load<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> GraphQLResponse<Operation>? {
    let key = Self.cacheKey(for: operation)
    guard let bytes = try await cache.loadRecords(forKeys: [key])[key]?.fields[Self.responseField] else { return nil }
    return GraphQLResponse(body: try ResponseBody(bytes), source: .cache)
  }

  /// Merges records into the store.
  public func publish(records: RecordSet) async throws {
    _ = try await cache.merge(records: records)
  }

  /// Removes everything.
  public func clearCache() async throws {
    try await cache.clear()
  }

  /// The records of a response: none if it has no data.
  package static func records<Operation: GraphQLOperation>(
    of response: ResponseBody, operation: Operation
  ) -> RecordSet? {
    guard response.hasData else { return nil }
    return RecordSet([Record(key: cacheKey(for: operation), fields: [responseField: response.bytes])])
  }

  private static let responseField = "response"

  /// Equal operations have equal keys; the order of variables does not matter.
  package static func cacheKey(for operation: some GraphQLOperation) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(operation.document.utf8.count + 64)
    text.append(contentsOf: "QUERY_ROOT.".utf8)
    text.append(contentsOf: (operation.operationName ?? "").utf8)
    text.append(0)
    text.append(contentsOf: operation.document.utf8)
    text.append(0)
    if !operation.variables.isEmpty {
      text.append(contentsOf: JSONValue.object(operation.variables).serialized(sortedKeys: true))
    }
    return String(decoding: text, as: UTF8.self)
  }
}
