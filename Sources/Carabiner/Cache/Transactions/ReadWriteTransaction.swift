public import CarabinerWire
internal import FoundationEssentials

/// Reads from a store and changes it; valid inside the closure it is given to.
///
/// It sees its own changes at once. The store has them when the closure has returned, all together; if it throws, none.
public struct ReadWriteTransaction: Sendable {
  private let reader: ReadTransaction
  private let overlay: OverlayCache

  init(_ store: ApolloStore, _ overlay: OverlayCache, _ scope: TransactionScope) {
    reader = ReadTransaction(store: store, cache: overlay, scope: scope)
    self.overlay = overlay
  }

  /// The stored response of an operation, or nil if something of it is missing or too old.
  public func read<Operation: GraphQLOperation>(_ operation: Operation) async throws -> GraphQLResponse<Operation>? {
    try await reader.read(operation)
  }

  /// The record under a key, or nil if there is none.
  public func record(for key: String) async throws -> Record? { try await reader.record(for: key) }

  /// The keys of the records that fit a pattern in which `*` stands for any text; all of them for nil.
  public func keys(matching pattern: String? = nil) async throws -> [String] { try await reader.keys(matching: pattern) }

  /// Writes the data of an operation, as if a server had sent it.
  ///
  /// - Throws: What the cache throws; ``StoreError``: `transactionEnded`, and `notNormalisable` if the data does not have the
  ///   shape the operation asks for.
  public func write(_ data: JSONValue, for operation: some GraphQLOperation) async throws {
    try reader.scope.checkOpen()
    let text = data.serialized()
    guard data.object != nil, let tape = try? JSONTape(scanning: text.span, limits: .highest),
      let plan = PlanLibrary.shared.plan(document: operation.document, operationName: operation.operationName),
      let records = try? Normalizer.records(
        of: text, tape, root: 0, plan, plan.call(variables: operation.variables), policy: reader.store.policy,
        received: StoreClock.now)
    else {
      throw StoreError(
        .notNormalisable,
        "the data of \(operation.displayName) does not have the shape its document asks for; compare both")
    }
    _ = try await overlay.merge(records: RecordSet(records))
  }

  /// Writes the data of a typed operation.
  public func write<Operation: GraphQLOperation>(_ data: Operation.Data, for operation: Operation) async throws
  where Operation.Data: Encodable {
    try await write(try JSONValue(parsing: [UInt8](try JSONEncoder().encode(data))), for: operation)
  }

  /// Changes the stored data of an operation.
  ///
  /// - Returns: Whether there was data to change; `body` is not called if something of it is missing.
  @discardableResult
  public func update(_ operation: some GraphQLOperation, _ body: (inout JSONValue) throws -> Void) async throws -> Bool {
    guard let bytes = try await read(operation)?.body.data else { return false }
    var data = try JSONValue(parsing: [UInt8](bytes))
    try body(&data)
    try await write(data, for: operation)
    return true
  }

  /// Merges records.
  public func merge(_ records: RecordSet) async throws {
    try reader.scope.checkOpen()
    _ = try await overlay.merge(records: records.resolved(by: reader.store.policy))
  }

  /// Removes the record under a key; nothing happens if there is none.
  public func removeObject(for key: String) async throws {
    try reader.scope.checkOpen()
    try await overlay.removeRecord(for: key)
  }

  /// Removes the records whose keys fit a pattern in which `*` stands for any text.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func removeObjects(matching pattern: String) async throws -> Int {
    let keys = try await keys(matching: pattern)
    for key in keys { try await overlay.removeRecord(for: key) }
    return keys.count
  }
}
