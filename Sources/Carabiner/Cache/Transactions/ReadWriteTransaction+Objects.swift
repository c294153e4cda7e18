public import CarabinerWire

extension ReadWriteTransaction {
  /// The object under a key; nil if a field of it is missing or too old.
  public func readObject<Object: GraphQLFragment>(
    ofType type: Object.Type, withKey key: String, variables: JSONObject = [:]
  ) async throws -> Object? {
    try await reader.readObject(ofType: type, withKey: key, variables: variables)
  }

  /// The object under a key as JSON, by the first fragment of a document; nil if a field of it is missing or too old.
  public func readObject(fragment: String, withKey key: String, variables: JSONObject = [:]) async throws -> JSONValue? {
    try await reader.readObject(fragment: fragment, withKey: key, variables: variables)
  }

  /// Changes the object under a key. Optional fields that were never fetched are nil.
  ///
  /// - Returns: Whether the object exists. If a field that is not optional is missing, `body` is not called.
  @discardableResult
  public func updateObject<Object: GraphQLFragment>(
    ofType type: Object.Type, withKey key: String, variables: JSONObject = [:], _ body: (inout Object) throws -> Void
  ) async throws -> Bool {
    guard let bytes = try await reader.objectData(type.document, type.fragmentName, key, variables, isPartial: true),
      var object = try Self.decode(type, bytes)
    else { return false }
    try body(&object)
    try await write(WrittenData(encoding: object, isPartial: true, isChange: true), type, key, variables)
    return true
  }

  /// Changes the object under a key as JSON, by the first fragment of a document. Fields that were never fetched are left out.
  @discardableResult
  public func updateObject(
    fragment: String, withKey key: String, variables: JSONObject = [:], _ body: (inout JSONValue) throws -> Void
  ) async throws -> Bool {
    guard let bytes = try await reader.objectData(fragment, nil, key, variables, isPartial: true) else { return false }
    var object = try JSONValue(parsing: bytes)
    try body(&object)
    try await writeObject(object, fragment: fragment, withKey: key, variables: variables)
    return true
  }

  private func write<Object: GraphQLFragment>(
    _ data: WrittenData, _ type: Object.Type, _ key: String, _ variables: JSONObject
  ) async throws {
    let plan = PlanLibrary.shared.fragmentPlan(document: type.document, name: type.fragmentName)
    try await write(data, plan, variables: variables, rootKey: key, of: "the object \(key)")
  }

  /// Writes the fields of the object under a key. If the object does not exist, it is created. An optional that is nil is written as
  /// null.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `transactionEnded` or `notNormalisable`.
  public func writeObject<Object: GraphQLFragment>(
    _ object: Object, ofType type: Object.Type = Object.self, withKey key: String, variables: JSONObject = [:]
  ) async throws {
    try await write(WrittenData(encoding: object, isPartial: true), type, key, variables)
  }

  /// Writes the fields of the object under a key as JSON, by the first fragment of a document.
  public func writeObject(
    _ object: JSONValue, fragment: String, withKey key: String, variables: JSONObject = [:]
  ) async throws {
    let plan = PlanLibrary.shared.fragmentPlan(document: fragment, name: nil)
    try await write(WrittenData(object, isPartial: true), plan, variables: variables, rootKey: key, of: "the object \(key)")
  }
}
