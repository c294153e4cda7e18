public import CarabinerWire

extension ReadTransaction {
  /// The object under a key; nil if a field of it is missing or too old.
  ///
  /// - Throws: The error of the cache; ``StoreError``; ``ResponseParsingError`` if the object does not match its type.
  public func readObject<Object: GraphQLFragment>(
    ofType type: Object.Type, withKey key: String, variables: JSONObject = [:]
  ) async throws -> Object? {
    guard let bytes = try await objectData(type.document, type.fragmentName, key, variables, isPartial: false) else { return nil }
    do {
      return try JSONTape.graphQLData(type, from: bytes)
    } catch {
      throw ResponseParsingError(
        .dataMismatch, "the object \(key) does not fit \(type): \(error); compare the fragment with the server's schema",
        cause: error)
    }
  }

  /// The object under a key as JSON, by the first fragment of a document; nil if a field of it is missing or too old.
  public func readObject(fragment: String, withKey key: String, variables: JSONObject = [:]) async throws -> JSONValue? {
    try await objectData(fragment, nil, key, variables, isPartial: false).map { try JSONValue(parsing: $0) }
  }

  /// The JSON of an object; nil if the store has no field of it.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `transactionEnded`, or with `notNormalisable` for a fragment that
  ///   cannot be parsed.
  func objectData(
    _ document: String, _ name: String?, _ key: String, _ variables: JSONObject, isPartial: Bool
  ) async throws -> [UInt8]? {
    try scope.checkOpen()
    guard let plan = PlanLibrary.shared.fragmentPlan(document: document, name: name) else {
      throw StoreError(
        .notNormalisable, "the fragment \(name ?? "for \(key)") cannot be read; correct its document, which must define it")
    }
    var loader = ResponseLoader(
      plan, rootKey: key, variables: variables, policy: store.policy, now: StoreClock.now, isPartial: isPartial)
    let data = try await loader.load(from: cache)?.body.data
    return data.flatMap { $0.elementsEqual("{}".utf8) ? nil : [UInt8]($0) }
  }
}
