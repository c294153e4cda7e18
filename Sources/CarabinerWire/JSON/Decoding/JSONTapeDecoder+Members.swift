/// Members of an object, for generated code. These functions are not generic, because nothing specialises generic ones for other modules.
extension JSONTapeDecoder {
  /// Checks that the value is an object.
  ///
  /// - Throws: `DecodingError` if it is not.
  package func requireObject() throws {
    if !text.isObject(entry) { throw text.mismatch([String: Any].self, entry) }
  }

  /// The value of a member of an object; nil if there is none.
  package func member(_ name: StaticString) -> JSONTapeDecoder? {
    text.value(of: name, in: entry, depth: depth).map { JSONTapeDecoder(text, $0, depth: depth + 1) }
  }

  /// The value of a member of an object.
  ///
  /// - Throws: `DecodingError` if there is none.
  package func requiredMember(_ name: StaticString) throws -> JSONTapeDecoder {
    JSONTapeDecoder(text, try place(of: name), depth: depth + 1)
  }

  package func string(_ name: StaticString) throws -> String { try String(text, place(of: name)) }
  package func int(_ name: StaticString) throws -> Int { try Int(text, place(of: name)) }
  package func double(_ name: StaticString) throws -> Double { try Double(text, place(of: name)) }
  package func bool(_ name: StaticString) throws -> Bool { try Bool(text, place(of: name)) }
  package func strings(_ name: StaticString) throws -> [String] { try requiredMember(name).strings() }

  package func nullableString(_ name: StaticString) throws -> String? { try nullable(name) }
  package func nullableInt(_ name: StaticString) throws -> Int? { try nullable(name) }
  package func nullableDouble(_ name: StaticString) throws -> Double? { try nullable(name) }
  package func nullableBool(_ name: StaticString) throws -> Bool? { try nullable(name) }

  @inline(__always) private func nullable<Value: TapeScalar>(_ name: StaticString) throws -> Value? {
    let place = try place(of: name)
    return text.isNull(place) ? nil : try Value(text, place)
  }

  @inline(__always) private func place(of name: StaticString) throws -> Int32 {
    guard let place = text.value(of: name, in: entry, depth: depth) else {
      throw text.missing(TapeKey(stringValue: "\(name)"), in: entry)
    }
    return place
  }
}
