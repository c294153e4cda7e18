public import CarabinerWire

/// Reads and changes a store. It is valid only inside its closure.
///
/// It sees its own changes at once. When the closure returns, they are applied to the store together. If it throws, they are
/// discarded.
public struct ReadWriteTransaction: Sendable {
  let reader: ReadTransaction
  private let overlay: OverlayCache

  init(_ store: ApolloStore, _ overlay: OverlayCache, _ scope: TransactionScope) {
    reader = ReadTransaction(store: store, cache: overlay, scope: scope)
    self.overlay = overlay
  }

  /// The stored response of an operation; nil if a field is missing or too old.
  public func read<Operation: GraphQLOperation>(_ operation: Operation) async throws -> GraphQLResponse<Operation>? {
    try await reader.read(operation)
  }

  /// The record under a key, or nil if there is none.
  public func record(for key: String) async throws -> Record? { try await reader.record(for: key) }

  /// The keys that match a pattern, in which `*` matches any text; all keys for nil.
  public func keys(matching pattern: String? = nil) async throws -> [String] { try await reader.keys(matching: pattern) }

  /// Writes the data of an operation, as if it were a response of the server.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `transactionEnded`, or with `notNormalisable` if the data does not
  ///   have the shape of the operation.
  public func write(_ data: JSONValue, for operation: some GraphQLOperation) async throws {
    try await write(WrittenData(data), for: operation)
  }

  private func write(_ data: WrittenData, for operation: some GraphQLOperation) async throws {
    let plan = PlanLibrary.shared.plan(document: operation.document, operationName: operation.operationName)
    try await write(data, plan, variables: operation.variables, rootKey: nil, of: operation.displayName)
  }

  /// Writes an object by a plan.
  func write(
    _ data: WrittenData, _ plan: OperationPlan?, variables: JSONObject, rootKey: String?, of name: String
  ) async throws {
    try reader.scope.checkOpen()
    let text = data.json.serialized()
    guard data.json.object != nil, let tape = try? JSONTape(scanning: text.span, limits: .highest), let plan,
      let records = try? Normalizer.records(
        of: text.span, tape, root: 0, plan, plan.call(variables: variables), policy: reader.store.policy,
        received: StoreClock.now, rootKey: rootKey, isPartial: data.isPartial, isTyped: data.isTyped)
    else {
      throw StoreError(
        .notNormalisable, "the data of \(name) does not have the shape of its document; compare both")
    }
    let set = RecordSet(records)
    _ = try await overlay.merge(records: data.isChange ? try await withoutUnknownNulls(set) : set)
  }

  /// The records without the nulls of fields that the store does not have.
  private func withoutUnknownNulls(_ set: RecordSet) async throws -> RecordSet {
    var records = set.list(policy: reader.store.policy)
    let known = try await reader.store.withoutOldFields(overlay.records(forKeys: records.map(\.key)))
    for (position, existing) in known.enumerated() {
      guard let existing else { continue }
      for name in records[position].names where existing[name] == nil && records[position].isNull(name) {
        records[position].remove(name)
      }
    }
    return RecordSet(records)
  }

  /// Writes the data of a typed operation. An optional that is nil is written as null.
  public func write<Operation: GraphQLOperation>(_ data: Operation.Data, for operation: Operation) async throws
  where Operation.Data: Encodable {
    try await write(WrittenData(encoding: data), for: operation)
  }

  /// Changes the stored data of an operation. Fields that were never fetched are left out, and may be added.
  ///
  /// - Returns: Whether the store has data of the operation. If not, `body` is not called.
  @discardableResult
  public func update(_ operation: some GraphQLOperation, _ body: (inout JSONValue) throws -> Void) async throws -> Bool {
    guard let bytes = try await partialData(of: operation) else { return false }
    var data = try JSONValue(parsing: bytes)
    try body(&data)
    try await write(WrittenData(data, isPartial: true), for: operation)
    return true
  }

  /// Changes the stored data of a typed operation. Optional fields that were never fetched are nil, and stay unknown unless they are
  /// set.
  ///
  /// - Returns: Whether the store has the data. If a field that is not optional is missing, `body` is not called.
  @discardableResult
  @_disfavoredOverload
  public func update<Operation: GraphQLOperation>(
    _ operation: Operation, _ body: (inout Operation.Data) throws -> Void
  ) async throws -> Bool where Operation.Data: Encodable {
    guard let bytes = try await partialData(of: operation), var data = try Self.decode(Operation.Data.self, bytes) else {
      return false
    }
    try body(&data)
    try await write(WrittenData(encoding: data, isPartial: true, isChange: true), for: operation)
    return true
  }

  private func partialData(of operation: some GraphQLOperation) async throws -> [UInt8]? {
    try reader.scope.checkOpen()
    let data = try await reader.store.read(operation, from: reader.cache, isPartial: true)?.response.body.data
    return data.flatMap { $0.elementsEqual("{}".utf8) ? nil : [UInt8]($0) }
  }

  /// The decoded data; nil if it lacks a field that is not optional.
  static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value? {
    do {
      return try JSONTape.graphQLData(type, from: bytes)
    } catch DecodingError.keyNotFound {
      return nil
    }
  }

  /// Merges records.
  public func merge(_ records: RecordSet) async throws {
    try reader.scope.checkOpen()
    _ = try await overlay.merge(records: records.resolved(by: reader.store.policy))
  }

  /// Removes the record under a key, if it exists.
  public func removeObject(for key: String) async throws {
    try reader.scope.checkOpen()
    try await overlay.removeRecord(for: key)
  }

  /// Removes the records whose keys match a pattern, in which `*` matches any text.
  ///
  /// - Returns: The number of removed records.
  @discardableResult
  public func removeObjects(matching pattern: String) async throws -> Int {
    let keys = try await keys(matching: pattern)
    for key in keys { try await overlay.removeRecord(for: key) }
    return keys.count
  }
}
