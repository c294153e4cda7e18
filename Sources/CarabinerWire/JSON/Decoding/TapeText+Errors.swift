extension TapeText {
  /// The path of a value.
  func path(to target: Int32) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var container = root
    while container != target {
      let (isObject, end) = (isObject(container), entries[Int(container)].next)
      var (child, index) = (container + (isObject ? 2 : 1), 0)
      while child < end, entries[Int(child)].next <= target {
        child = entries[Int(child)].next + (isObject ? 1 : 0)
        index += 1
      }
      guard child < end else { return path }
      path.append(isObject ? TapeKey(stringValue: text(of: child - 1)) : TapeKey(index: index))
      container = child
    }
    return path
  }

  /// The error for a value that is null or of another kind than the type requires.
  func mismatch(_ type: any Any.Type, _ entry: Int32) -> DecodingError {
    if isNull(entry) {
      return .valueNotFound(
        type, .init(codingPath: path(to: entry), debugDescription: "Cannot get value of type \(type) -- found null value instead")
      )
    }
    let kind =
      switch entries[Int(entry)].kind {
      case .null: "null"
      case .scalar: firstByte(entry) >= UInt8(ascii: "f") ? "bool" : "number"
      case .string, .escapedString: "string"
      case .object: "a dictionary"
      case .array: "an array"
      }
    return .typeMismatch(
      type, .init(codingPath: path(to: entry), debugDescription: "Expected to decode \(type) but found \(kind) instead."))
  }

  /// The error for a value of the right kind that is not valid for the type.
  func corrupted(_ entry: Int32, _ message: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(to: entry), debugDescription: message))
  }

  /// The error for a member that an object does not have.
  func missing(_ key: any CodingKey, in object: Int32) -> DecodingError {
    .keyNotFound(
      key,
      .init(codingPath: path(to: object), debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
  }
}
