extension JSONTapeDecoder {
  /// Checks that the value is an object.
  ///
  /// - Throws: `DecodingError` if it is not.
  package func requireObject() throws {
    if !text.isObject(entry) { throw text.mismatch([String: Any].self, entry) }
  }

  /// The value of a member of an object; nil if there is none.
  package func member(_ name: String) -> JSONTapeDecoder? {
    text.value(of: name, in: entry, depth: depth).map { JSONTapeDecoder(text, $0, depth: depth + 1) }
  }

  /// The value of a member of an object.
  ///
  /// - Throws: `DecodingError` if there is none.
  package func requiredMember(_ name: String) throws -> JSONTapeDecoder {
    guard let member = member(name) else { throw text.missing(TapeKey(stringValue: name), in: entry) }
    return member
  }
}
