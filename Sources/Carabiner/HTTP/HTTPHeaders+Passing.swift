package import CarabinerWire

/// The fields that a gateway passes on.
extension HTTPHeaders {
  /// Calls a body with the index of each field that a selection passes.
  ///
  /// Fields that `Connection` names are left out, because they belong to one connection (RFC 9110, 7.6.1).
  package func forEach(passedBy selection: HeaderSelection, _ body: (_ index: Int) -> Void) {
    if selection.isEmpty { return }
    let own = connectionFields
    let bytes = bytes.span
    for index in indices {
      let name = bytes.extracting(nameRange(at: index))
      if selection.passes(name), !own.contains(where: { name.isEqualIgnoringCase($0.utf8Span.span) }) { body(index) }
    }
  }

  /// The names in `Connection`.
  private var connectionFields: [Substring] {
    guard let first = firstIndex(of: "connection") else { return [] }
    let value = bytes.span.extracting(valueRange(at: first))
    // The usual ones, without a list.
    let isUsual = value.isEqualIgnoringCase("keep-alive".utf8Span.span) || value.isEqualIgnoringCase("close".utf8Span.span)
    guard !isUsual || firstIndex(of: "connection", from: first + 1) != nil else { return [] }
    return elements(of: "connection")
  }

  /// Joins all fields of a name into the first one.
  package mutating func joinFields(of name: String, by separator: String) {
    guard let first = firstIndex(of: name), firstIndex(of: name, from: first + 1) != nil else { return }
    var value: [UInt8] = []
    var next: Int? = first
    while let index = next {
      if index > first { value += separator.utf8 }
      value += bytes[valueRange(at: index)]
      next = firstIndex(of: name, from: index + 1)
    }
    set(name.utf8Span.span, value.span)
  }
}
