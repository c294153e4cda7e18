public import CarabinerWire

extension ApolloStore {
  /// The object under a key; nil if a field of it is missing or too old.
  public func readObject<Object: GraphQLFragment>(
    ofType type: Object.Type, withKey key: String, variables: JSONObject = [:]
  ) async throws -> Object? {
    try await withinReadTransaction { try await $0.readObject(ofType: type, withKey: key, variables: variables) }
  }

  /// Changes the object under a key. Optional fields that were never fetched are nil.
  ///
  /// - Returns: Whether the object exists.
  @discardableResult
  public func updateObject<Object: GraphQLFragment>(
    ofType type: Object.Type, withKey key: String, variables: JSONObject = [:], _ body: (inout Object) throws -> Void
  ) async throws -> Bool {
    try await updating { try await $0.updateObject(ofType: type, withKey: key, variables: variables, body) }
  }

  /// Writes the fields of the object under a key. If the object does not exist, it is created.
  public func writeObject<Object: GraphQLFragment>(
    _ object: Object, ofType type: Object.Type = Object.self, withKey key: String, variables: JSONObject = [:]
  ) async throws {
    try await withinReadWriteTransaction { try await $0.writeObject(object, ofType: type, withKey: key, variables: variables) }
  }
}
