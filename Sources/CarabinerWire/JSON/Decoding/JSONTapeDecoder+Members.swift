/// Members of an object, for generated code. These functions are not generic, because nothing specialises generic ones for other modules.
extension JSONTapeDecoder {
  /// Checks that the value is an object.
  ///
  /// - Throws: `DecodingError` if it is not.
  package func requireObject() throws {
    if !text.isObject(entry) { throw text.mismatch([String: Any].self, entry) }
  }

  /// The value of a member of an object; nil if the text has none.
  package func member(_ name: StaticString) -> JSONTapeDecoder? {
    text.value(of: name, in: entry, depth: depth).map { JSONTapeDecoder(text, $0, depth: depth + 1) }
  }

  /// The value of a member of an object.
  ///
  /// - Throws: `DecodingError` if there is none.
  package func requiredMember(_ name: StaticString) throws -> JSONTapeDecoder { try member(name) ?? absentMember(name) }

  /// The value of a member of an object that may be left out; nil if there is none.
  package func conditionalMember(_ name: StaticString) throws -> JSONTapeDecoder? {
    if let member = member(name) { return member }
    guard let absent = text.absentMembers, absent.includesConditional else { return nil }
    return try absent.member("\(name)", of: self)
  }

  package func string(_ name: StaticString) throws -> String { try scalar(name) }
  package func int(_ name: StaticString) throws -> Int { try scalar(name) }
  package func double(_ name: StaticString) throws -> Double { try scalar(name) }
  package func bool(_ name: StaticString) throws -> Bool { try scalar(name) }
  package func strings(_ name: StaticString) throws -> [String] { try requiredMember(name).strings() }

  package func nullableString(_ name: StaticString) throws -> String? { try nullable(name) }
  package func nullableInt(_ name: StaticString) throws -> Int? { try nullable(name) }
  package func nullableDouble(_ name: StaticString) throws -> Double? { try nullable(name) }
  package func nullableBool(_ name: StaticString) throws -> Bool? { try nullable(name) }

  /// Whether members that may be left out are left out.
  package var omitsConditional: Bool { text.absentMembers.map { !$0.includesConditional } ?? false }

  /// The same decoder. Members that are not in the text have the values of a source.
  package func taking(_ members: any AbsentMembers) -> JSONTapeDecoder {
    text.absentMembers = members
    return self
  }

  @inline(__always) private func scalar<Value: TapeScalar>(_ name: StaticString) throws -> Value {
    if let place = text.value(of: name, in: entry, depth: depth) { return try Value(text, place) }
    return try Value(reading: absentMember(name))
  }

  @inline(__always) private func nullable<Value: TapeScalar>(_ name: StaticString) throws -> Value? {
    if let place = text.value(of: name, in: entry, depth: depth) { return text.isNull(place) ? nil : try Value(text, place) }
    let value = try absentMember(name)
    return value.decodeNil() ? nil : try Value(reading: value)
  }

  @inline(never) private func absentMember(_ name: StaticString) throws -> JSONTapeDecoder {
    guard let absent = text.absentMembers else { throw text.missing(TapeKey(stringValue: "\(name)"), in: entry) }
    return try absent.member("\(name)", of: self)
  }
}
