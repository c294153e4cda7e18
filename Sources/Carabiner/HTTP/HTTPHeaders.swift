internal import CarabinerWire

/// The header fields of a request or response. Names are case-insensitive; order and duplicates are kept.
public struct HTTPHeaders: Sendable, Hashable {
  /// One header field.
  public struct Field: Sendable, Hashable {
    /// The name, in its original case. Compare it case-insensitively.
    public var name: String
    /// The value, without surrounding white space.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields in order.
  public var fields: [Field]

  /// Creates an empty list.
  public init() { fields = [] }

  /// Creates a list of fields.
  public init(_ fields: [Field]) { self.fields = fields }

  /// The first value of a header. Setting it replaces all fields of this name; setting nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name.isSameHeaderName(as: name) }?.value }
    set {
      guard let newValue else { return remove(name) }
      guard let first = fields.firstIndex(where: { $0.name.isSameHeaderName(as: name) }) else {
        return fields.append(Field(name: name, value: newValue))
      }
      fields[first].value = newValue
      if let second = fields[(first + 1)...].firstIndex(where: { $0.name.isSameHeaderName(as: name) }) {
        fields[second...].removeAll { $0.name.isSameHeaderName(as: name) }
      }
    }
  }

  /// All values of a header, in order.
  public func values(for name: String) -> [String] {
    fields.filter { $0.name.isSameHeaderName(as: name) }.map(\.value)
  }

  /// Adds a field and keeps existing fields of the same name.
  public mutating func add(name: String, value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Removes every field of this name.
  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name.isSameHeaderName(as: name) }
  }

  /// Replaces fields by those of `other` with the same name, and adds the rest.
  public mutating func replace(with other: HTTPHeaders) {
    for field in other.fields { remove(field.name) }
    fields.append(contentsOf: other.fields)
  }

  /// The fields as a dictionary; values of one name are joined with a comma, as RFC 9110 reads them.
  public var dictionary: [String: String] {
    var result: [String: String] = [:]
    for field in fields {
      let key = result.keys.first { $0.isSameHeaderName(as: field.name) } ?? field.name
      result[key] = result[key].map { "\($0), \(field.value)" } ?? field.value
    }
    return result
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }
}

extension HTTPHeaders: RandomAccessCollection {
  public var startIndex: Int { fields.startIndex }
  public var endIndex: Int { fields.endIndex }
  public subscript(position: Int) -> Field { fields[position] }
}

extension String {
  /// Whether two header names are equal, ignoring the case of ASCII letters.
  package func isSameHeaderName(as other: String) -> Bool {
    // Most equal names have the same case, and most different names differ in length.
    if self == other { return true }
    guard utf8.count == other.utf8.count else { return false }
    return utf8Span.span.isEqualIgnoringCase(other.utf8Span.span)
  }
}

extension UInt8 {
  package var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}
